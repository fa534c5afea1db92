/* SPDX-License-Identifier: MIT */
/*
 * test-no-exceptions.cpp - the header in a program that is built without them, and without RTTI
 */
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "check.hpp"

#if defined(__cpp_exceptions)
#error "to be built with -fno-exceptions"
#endif

namespace
{

void a_vector_has_its_table()
{
	std::vector<int, hashdist::allocator<int>> numbers(MIB, 7);

	CHECK(is_table(numbers.data()) && numbers[MIB - 1] == 7);
}

/* In a child, without a core dump. */
void a_failure_ends_the_program()
{
	const pid_t child = fork();
	int status = 0;

	CHECK(child >= 0);
	if (!child) {
		std::signal(SIGABRT, [](int) { _exit(42); });
		static_cast<void>(hashdist::allocator<char>().allocate(PTRDIFF_MAX));
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

} // namespace

int main()
{
	RUN(a_vector_has_its_table);
	RUN(a_failure_ends_the_program);
	return 0;
}

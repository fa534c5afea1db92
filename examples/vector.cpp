/* SPDX-License-Identifier: MIT */
/* vector.cpp - the array of a std::vector, placed right */
#include <cstdint>
#include <cstdio>
#include <vector>
#include <hashdist/hashdist.hpp>

int main()
{
	std::vector<std::uint64_t, hashdist::allocator<std::uint64_t>> numbers(1 << 20);
	char text[256];

	const auto got = hashdist::got(numbers.data());
	if (!got)
		return 1; /* below 2 MiB: an ordinary array, from operator new */
	hd_got_text(&*got, text, sizeof(text));
	std::printf("vector: %s\n", text);
	return numbers[12345] == 0 ? 0 : 1;
}

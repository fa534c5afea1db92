/* SPDX-License-Identifier: MIT */
/*
 * check.hpp - what the tests in C++ share
 *
 * A test is a function whose name is its claim. CHECK() says what was not so, and where,
 * and ends the program with status 1.
 */
#ifndef TESTS_CPP_CHECK_HPP
#define TESTS_CPP_CHECK_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <typeinfo>

#include <hashdist/hashdist.hpp>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			std::fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__,        \
				     __func__, #condition);                                        \
			std::exit(1);                                                              \
		}                                                                                  \
	} while (0)

/* Exactly this type, and none derived from it. */
#define CHECK_THROWS(type, expression)                                                             \
	do {                                                                                       \
		bool check_threw = false;                                                          \
		try {                                                                              \
			static_cast<void>(expression);                                             \
		} catch (const type &check_error) {                                                \
			check_threw = typeid(check_error) == typeid(type);                         \
		}                                                                                  \
		CHECK(check_threw &&#expression " throws " #type);                                 \
	} while (0)

/* Runs a test and names it: the last name printed is that of the test that ended it all. */
#define RUN(test)                                                                                  \
	do {                                                                                       \
		std::puts(#test);                                                                  \
		std::fflush(stdout);                                                               \
		test();                                                                            \
	} while (0)

constexpr std::size_t MIB = std::size_t(1) << 20;

inline bool is_table(const void *start)
{
	return hashdist::got(start).has_value();
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * stranger.cpp - the same in C++, by way of the allocator
 */
#include <hashdist/hashdist.hpp>

#include <cstdio>
#include <vector>

int main()
{
	std::vector<int, hashdist::allocator<int>> numbers(1 << 20, 7);
	const auto got = hashdist::got(numbers.data());
	char text[256];

	if (!got || got->bytes < 4 << 20 || numbers.back() != 7)
		return 1;
	hd_got_text(&*got, text, sizeof(text));
	std::puts(text);
	return 0;
}

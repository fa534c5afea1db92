/* SPDX-License-Identifier: MIT */
/*
 * cpp_maps.cpp - containers of the standard library, and Abseil's hash map, placed right
 *
 * Each takes its allocator as the last argument of its type; that is all.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hashdist/hashdist.hpp>

#if __has_include(<absl/container/flat_hash_map.h>)
#include <absl/container/flat_hash_map.h>
#define HAVE_ABSL 1
#endif

namespace
{

/* Optional: hears of each table. What is wanted may be said here too. */
struct tell : hashdist::policy {
	static inline unsigned tables = 0;

	static void placed(const void *, const hd_got &got) noexcept
	{
		char text[256];

		hd_got_text(&got, text, sizeof(text));
		std::printf("cpp_maps: %s\n", text);
		tables++;
	}
};

using number = std::uint64_t;
using pair = std::pair<const number, number>;

/* The whole array. */
using placed_vector = std::vector<number, hashdist::allocator<number>>; /* <-- */

/* Its array of buckets; each element is a small block of its own, from operator new. */
using placed_map = std::unordered_map<number, number, std::hash<number>, std::equal_to<number>,
				      hashdist::allocator<pair, tell>>; /* <-- */

#ifdef HAVE_ABSL
/* Elements are in one array, all of it in large pages: what suits a large map best. */
using placed_flat_map =
    absl::flat_hash_map<number, number, absl::Hash<number>, std::equal_to<number>,
			hashdist::allocator<pair, tell>>; /* <-- */
#endif

constexpr number numbers = 400000;

void expect(bool is_so, const char *what)
{
	if (is_so)
		return;
	std::fprintf(stderr, "cpp_maps: not so: %s\n", what);
	std::exit(EXIT_FAILURE);
}

template <class Map> void fill_and_look(const char *what)
{
	const unsigned before = tell::tables;
	Map squares;
	bool right = true;

	std::printf("cpp_maps: %s\n", what);
	squares.reserve(numbers); /* one table, not one for each doubling */
	for (number n = 0; n < numbers; n++)
		squares[n] = n * n;
	for (number n = 0; n < 2 * numbers; n++) {
		const auto found = squares.find(n);

		right &= n < numbers ? found != squares.end() && found->second == n * n
				     : found == squares.end();
	}
	expect(right, "a map holds what was put there, and nothing else");
	expect(tell::tables == before + 1, "it made one table");
}

} // namespace

int main()
{
	placed_vector squares(numbers);

	for (number n = 0; n < numbers; n++)
		squares[n] = n * n;
	expect(squares[numbers - 1] == (numbers - 1) * (numbers - 1), "a vector holds its numbers");
	/* Asked at any time, for containers that tell where their array is. */
	expect(hashdist::got(squares.data()).has_value(), "a vector of 3 MiB is a table");

	fill_and_look<placed_map>("std::unordered_map");
#ifdef HAVE_ABSL
	fill_and_look<placed_flat_map>("absl::flat_hash_map");
#endif
	return EXIT_SUCCESS;
}

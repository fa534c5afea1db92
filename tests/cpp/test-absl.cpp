/* SPDX-License-Identifier: MIT */
/*
 * test-absl.cpp - Abseil's flat_hash_map with hashdist::allocator
 *
 * All of the map is one array: control bytes, then the elements.
 */
#include <string>
#include <utility>

#include <absl/container/flat_hash_map.h>

#include "check.hpp"

namespace
{

using number = std::uint64_t;

struct watching : hashdist::policy {
	static inline const void *last = nullptr;
	static inline unsigned tables = 0;

	static void placed(const void *start, const hd_got &) noexcept
	{
		last = start;
		tables++;
	}
};

template <class Key>
using placed_map = absl::flat_hash_map<Key, number, absl::Hash<Key>, std::equal_to<Key>,
				       hashdist::allocator<std::pair<const Key, number>, watching>>;

constexpr number numbers = 500000;

placed_map<number> squares()
{
	placed_map<number> map;

	for (number n = 0; n < numbers; n++)
		map[n] = n * n;
	return map;
}

void it_grows_from_one_table_into_the_next()
{
	watching::tables = 0;

	const placed_map<number> map = squares();
	CHECK(watching::tables >= 2 && map.size() == numbers);
	CHECK(hashdist::got(watching::last)->bytes >= numbers * 17);
	for (number n = 0; n < 2 * numbers; n++) {
		const auto found = map.find(n);

		CHECK((found != map.end()) == (n < numbers));
		CHECK(n >= numbers || found->second == n * n);
	}
}

void its_array_goes_back_when_it_does()
{
	{
		const placed_map<number> map = squares();
		CHECK(is_table(watching::last));
	}
	CHECK(!is_table(watching::last));
}

void a_move_and_a_swap_take_the_table_along()
{
	placed_map<number> from = squares(), small{ { 1, 2 } };
	const unsigned before = watching::tables;
	placed_map<number> to(std::move(from));

	std::swap(to, small);
	CHECK(small.size() == numbers && to.size() == 1 && to.at(1) == 2);
	to = std::move(small);
	CHECK(to.size() == numbers && to.at(numbers - 1) == (numbers - 1) * (numbers - 1));
	CHECK(watching::tables == before);
}

void reserving_makes_one_table()
{
	placed_map<std::string> words;
	watching::tables = 0;

	words.reserve(numbers);
	for (number n = 0; n < numbers; n++)
		words[std::to_string(n)] = n;
	CHECK(watching::tables == 1 && words.at("499999") == 499999);
}

} // namespace

int main()
{
	RUN(it_grows_from_one_table_into_the_next);
	RUN(its_array_goes_back_when_it_does);
	RUN(a_move_and_a_swap_take_the_table_along);
	RUN(reserving_makes_one_table);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * test-containers.cpp - the standard's containers with hashdist::allocator
 */
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "check.hpp"

namespace
{

using number = std::uint64_t;
template <class T> using placed = hashdist::allocator<T>;
template <class T> using placed_vector = std::vector<T, placed<T>>;

/* Remembers where the last table was put. */
struct watching : hashdist::policy {
	static inline const void *last = nullptr;
	static inline unsigned tables = 0;

	static void placed(const void *start, const hd_got &) noexcept
	{
		last = start;
		tables++;
	}
};

template <class T> using watched_vector = std::vector<T, hashdist::allocator<T, watching>>;
template <class Key, class Value>
using watched_map = std::unordered_map<Key, Value, std::hash<Key>, std::equal_to<Key>,
				       hashdist::allocator<std::pair<const Key, Value>, watching>>;

/* Counts who lives, and refuses to be the one after the next @until. */
struct fragile {
	static inline long alive = 0;
	static inline long until = -1;
	char padding[64];

	fragile() : padding{}
	{
		be_born();
	}
	fragile(const fragile &) : padding{}
	{
		be_born();
	}
	fragile &operator=(const fragile &) = default;
	~fragile()
	{
		alive--;
	}

      private:
	static void be_born()
	{
		if (until >= 0 && alive >= until)
			throw std::runtime_error("one too many");
		alive++;
	}
};

void a_vector_grows_out_of_the_heap_and_into_tables()
{
	placed_vector<number> numbers;
	const void *before = nullptr;

	for (number n = 0; n < MIB; n++) {
		numbers.push_back(n);
		if (numbers.data() == before)
			continue;
		CHECK(is_table(numbers.data()) == (numbers.capacity() * 8 >= 2 * MIB));
		before = numbers.data();
	}
	for (number n = 0; n < MIB; n++)
		CHECK(numbers[n] == n);
	numbers.resize(100);
	numbers.shrink_to_fit();
	CHECK(!is_table(numbers.data()) && numbers[99] == 99);
}

void a_container_is_as_small_as_with_the_standard_allocator()
{
	static_assert(sizeof(placed_vector<int>) == sizeof(std::vector<int>));
	static_assert(sizeof(watched_vector<int>) == sizeof(std::vector<int>));
	static_assert(sizeof(watched_map<int, int>) == sizeof(std::unordered_map<int, int>));
}

void a_move_takes_the_table_along()
{
	placed_vector<number> from(MIB, 7);
	const void *const table = from.data();
	placed_vector<number> to(std::move(from)), assigned(MIB, 8);
	const void *const old = assigned.data();

	CHECK(to.data() == table && from.empty());
	assigned = std::move(to);
	CHECK(assigned.data() == table && assigned[MIB - 1] == 7);
	CHECK(!is_table(old));
}

void a_copy_has_a_table_of_its_own()
{
	const placed_vector<number> from(MIB, 7);
	placed_vector<number> copy(from), assigned;

	assigned = from;
	CHECK(is_table(copy.data()) && is_table(assigned.data()));
	CHECK(copy.data() != from.data() && copy == from && assigned == from);
}

void a_swap_exchanges_tables_and_small_blocks()
{
	placed_vector<number> large(MIB, 7), small(10, 8);
	const void *const table = large.data(), *const block = small.data();

	std::swap(large, small);
	CHECK(small.data() == table && large.data() == block);
	CHECK(small.size() == MIB && large.size() == 10 && large[9] == 8);
	large.swap(small);
	CHECK(large.data() == table);
}

void an_unordered_map_has_its_buckets_in_a_table()
{
	watched_map<number, number> squares;
	watching::tables = 0;

	squares.reserve(400000);
	CHECK(watching::tables == 1 && is_table(watching::last));
	for (number n = 0; n < 400000; n++)
		squares.emplace(n, n * n);
	CHECK(watching::tables == 1 && squares.size() == 400000);
	for (number n = 0; n < 400000; n += 2)
		squares.erase(n);
	for (number n = 0; n < 400000; n++)
		CHECK(squares.count(n) == n % 2 && (n % 2 == 0 || squares.at(n) == n * n));

	watched_map<number, number> moved(std::move(squares));
	CHECK(watching::tables == 1 && moved.size() == 200000);
	{
		watched_map<number, number> gone(std::move(moved));
		CHECK(is_table(watching::last) && gone.at(1) == 1);
	}
	CHECK(!is_table(watching::last));
}

void a_map_of_strings_rehashes_through_both_kinds_of_memory()
{
	watched_map<std::string, number> words;

	for (number n = 0; n < 300000; n++)
		words["a word too long for any small buffer " + std::to_string(n)] = n;
	CHECK(words.bucket_count() * sizeof(void *) >= 2 * MIB && is_table(watching::last));
	CHECK(words.at("a word too long for any small buffer 299999") == 299999);
	words.clear();
	words.rehash(0);
	CHECK(!is_table(watching::last));
}

/* They rebind the allocator: to nodes, to maps of blocks, to a reference count. */
void all_the_others_take_it_too()
{
	std::deque<number, placed<number>> queue(MIB, 1);
	std::map<int, int, std::less<>, placed<std::pair<const int, int>>> tree{ { 1, 2 } };
	std::unordered_set<int, std::hash<int>, std::equal_to<>, placed<int>> set{ 1, 2, 2 };
	std::basic_string<char, std::char_traits<char>, placed<char>> text(4 * MIB, 'x');
	placed_vector<bool> bits(64 * MIB, true);
	const auto shared = std::allocate_shared<fragile>(placed<fragile>());

	CHECK(queue.size() == MIB && tree.at(1) == 2 && set.size() == 2 && shared);
	CHECK(is_table(text.data()) && text[4 * MIB - 1] == 'x');
	CHECK(bits[64 * MIB - 1]);
}

void elements_that_refuse_to_be_leave_no_table_behind()
{
	CHECK(fragile::alive == 0);
	fragile::until = 50000;
	CHECK_THROWS(std::runtime_error, watched_vector<fragile>(100000));
	CHECK(fragile::alive == 0 && !is_table(watching::last));
	fragile::until = -1;
}

/* Growing copies, as fragile cannot be moved without a throw: the strong guarantee. */
void a_vector_that_cannot_grow_stays_as_it_was()
{
	fragile::until = 60000;
	{
		watched_vector<fragile> some(40000);
		const void *const table = some.data();

		CHECK(is_table(table));
		CHECK_THROWS(std::runtime_error, some.reserve(80000));
		CHECK(watching::last != table && !is_table(watching::last));
		CHECK(some.data() == table && some.size() == 40000 && is_table(table));
	}
	CHECK(fragile::alive == 0);
	fragile::until = -1;
}

void a_vector_survives_memory_that_is_not_there()
{
	placed_vector<char> chars(4 * MIB, 'x');
	const void *const table = chars.data();

	CHECK_THROWS(hashdist::bad_alloc, chars.reserve(std::size_t(1) << 46));
	CHECK_THROWS(std::length_error, chars.reserve(SIZE_MAX));
	CHECK(chars.data() == table && chars.size() == 4 * MIB && chars.back() == 'x');
}

void threads_may_all_have_tables()
{
	bool right[4] = {};
	std::vector<std::thread> threads;

	for (unsigned t = 0; t < 4; t++)
		threads.emplace_back([t, &right] {
			placed_vector<number> numbers;

			for (number n = 0; n < 1000000; n++)
				numbers.push_back(n ^ t);
			right[t] = numbers[999999] == (999999 ^ t);
		});
	for (auto &thread : threads)
		thread.join();
	CHECK(right[0] && right[1] && right[2] && right[3]);
}

} // namespace

int main()
{
	RUN(a_vector_grows_out_of_the_heap_and_into_tables);
	RUN(a_container_is_as_small_as_with_the_standard_allocator);
	RUN(a_move_takes_the_table_along);
	RUN(a_copy_has_a_table_of_its_own);
	RUN(a_swap_exchanges_tables_and_small_blocks);
	RUN(an_unordered_map_has_its_buckets_in_a_table);
	RUN(a_map_of_strings_rehashes_through_both_kinds_of_memory);
	RUN(all_the_others_take_it_too);
	RUN(elements_that_refuse_to_be_leave_no_table_behind);
	RUN(a_vector_that_cannot_grow_stays_as_it_was);
	RUN(a_vector_survives_memory_that_is_not_there);
	RUN(threads_may_all_have_tables);
	return 0;
}

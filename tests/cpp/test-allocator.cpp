/* SPDX-License-Identifier: MIT */
/*
 * test-allocator.cpp - hashdist::allocator by itself: which way blocks go, types, failures
 */
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>

#include "check.hpp"

using hashdist::allocator;

namespace
{

struct incomplete;

/* A policy that counts, and asks for base pages, which can be had everywhere. */
struct counting : hashdist::policy {
	static constexpr std::size_t threshold = 64 << 10;
	static inline unsigned tables = 0;
	static inline const void *last = nullptr;
	static inline hd_got got = {};

	static hd_want want() noexcept
	{
		hd_want want = {};

		want.pages = HD_PAGES_BASE;
		want.name = "counting";
		return want;
	}

	static void placed(const void *start, const hd_got &now) noexcept
	{
		tables++;
		last = start;
		got = now;
	}
};

/* A want that cannot be: a name may not hold a bracket. */
struct impossible : hashdist::policy {
	static hd_want want() noexcept
	{
		hd_want want = {};

		want.name = "[stack]";
		return want;
	}
};

template <std::size_t Alignment> struct alignas(Alignment) aligned {
	unsigned char byte;
};

template <class T> bool is_aligned(const T *start)
{
	return reinterpret_cast<std::uintptr_t>(start) % alignof(T) == 0;
}

void types_are_what_the_standard_requires()
{
	using traits = std::allocator_traits<allocator<int>>;
	using other = traits::rebind_alloc<long>;

	static_assert(std::is_same_v<traits::value_type, int>);
	static_assert(std::is_same_v<traits::pointer, int *>);
	static_assert(std::is_same_v<traits::size_type, std::size_t>);
	static_assert(std::is_same_v<traits::difference_type, std::ptrdiff_t>);
	static_assert(traits::is_always_equal::value);
	static_assert(traits::propagate_on_container_move_assignment::value);
	static_assert(traits::propagate_on_container_swap::value);
	static_assert(!traits::propagate_on_container_copy_assignment::value);
	static_assert(std::is_same_v<other, allocator<long>>);
	static_assert(std::is_same_v<other::rebind<int>::other, allocator<int>>);
	static_assert(std::is_empty_v<allocator<int>>);
	static_assert(std::is_nothrow_default_constructible_v<allocator<int>>);
	static_assert(std::is_nothrow_copy_constructible_v<allocator<int>>);
	static_assert(std::is_nothrow_move_constructible_v<allocator<int>>);
	static_assert(std::is_nothrow_constructible_v<allocator<int>, allocator<long>>);
	static_assert(std::is_nothrow_swappable_v<allocator<int>>);
	static_assert(std::is_base_of_v<std::bad_alloc, hashdist::bad_alloc>);
	static_assert(std::is_nothrow_copy_constructible_v<hashdist::bad_alloc>);
	static_assert(sizeof(allocator<incomplete>) == 1);
	static_assert(sizeof(allocator<void>) == 1);

	CHECK(traits::max_size({}) == SIZE_MAX / sizeof(int));
}

void a_policy_is_kept_through_rebinding_and_is_part_of_the_type()
{
	using placed = allocator<int, counting>;
	using other = std::allocator_traits<placed>::rebind_alloc<char>;

	static_assert(std::is_same_v<other, allocator<char, counting>>);
	static_assert(!std::is_convertible_v<allocator<int>, placed>);
	static_assert(!std::is_same_v<allocator<int>, placed>);
}

void any_two_are_equal_and_free_each_others_blocks()
{
	allocator<int> ints;
	allocator<long> longs(ints);
	allocator<int> back(longs), copy = ints;

	CHECK(ints == copy && ints == back && ints == longs);
	CHECK(!(ints != copy) && !(ints != longs));

	int *const table = ints.allocate(MIB);
	CHECK(is_table(table));
	back.deallocate(table, MIB);
	CHECK(!is_table(table));

	int *const small = ints.allocate(10);
	copy.deallocate(small, 10);
}

/*
 *   bytes    2 MiB - 1 | 2 MiB
 *   from  operator new | hd_alloc()
 */
void the_threshold_is_where_tables_begin()
{
	allocator<char> chars;
	char *const below = chars.allocate(2 * MIB - 1), *const at = chars.allocate(2 * MIB);
	char *const none = chars.allocate(0);

	CHECK(!is_table(below) && is_table(at) && !is_table(none));
	std::memset(below, 1, 2 * MIB - 1);
	std::memset(at, 1, 2 * MIB);
	chars.deallocate(below, 2 * MIB - 1);
	chars.deallocate(at, 2 * MIB);
	chars.deallocate(none, 0);
	CHECK(!is_table(at));
}

/* What counts is the size in bytes, rounded by nobody: 24 * 87381 is 8 below 2 MiB. */
void the_threshold_counts_bytes_not_elements()
{
	struct triple {
		std::uint64_t a, b, c;
	};
	allocator<triple> triples;
	triple *const below = triples.allocate(87381), *const above = triples.allocate(87382);

	CHECK(!is_table(below) && is_table(above));
	triples.deallocate(below, 87381);
	triples.deallocate(above, 87382);
	CHECK(!is_table(above));
}

void tables_are_zeroed_and_all_there()
{
	allocator<std::uint64_t> numbers;
	const std::size_t n = MIB;
	std::uint64_t *const table = numbers.allocate(n), sum = 0;
	const auto got = hashdist::got(table);

	CHECK(got && got->bytes >= n * sizeof(*table) && got->populated == got->bytes);
	for (std::size_t i = 0; i < n; i++)
		sum |= table[i];
	CHECK(sum == 0);
	numbers.deallocate(table, n);
}

void a_policy_sets_the_threshold_and_the_want_and_hears_what_came_of_it()
{
	allocator<char, counting> chars;
	char *const below = chars.allocate(counting::threshold - 1);

	CHECK(counting::tables == 0 && !is_table(below));
	chars.deallocate(below, counting::threshold - 1);

	char *const at = chars.allocate(counting::threshold);
	CHECK(counting::tables == 1 && counting::last == at && is_table(at));
	CHECK(counting::got.bytes == counting::threshold && counting::got.page_sizes == 1);
	chars.deallocate(at, counting::threshold);
}

template <std::size_t Alignment> void check_alignment(std::size_t n)
{
	allocator<aligned<Alignment>> blocks;
	aligned<Alignment> *const few = blocks.allocate(1), *const many = blocks.allocate(n);

	CHECK(is_aligned(few) && is_aligned(many));
	CHECK(is_table(many) == (Alignment <= 4096));
	many[0].byte = many[n - 1].byte = few[0].byte = 1;
	blocks.deallocate(few, 1);
	blocks.deallocate(many, n);
}

/* To a page, tables do; beyond it operator new aligns whatever is asked. */
void every_alignment_is_kept()
{
	check_alignment<8>(2 * MIB / 8);
	check_alignment<16>(2 * MIB / 16);
	check_alignment<32>(2 * MIB / 32);
	check_alignment<64>(4 * MIB / 64);
	check_alignment<4096>(4 * MIB / 4096);
	check_alignment<8192>(4 * MIB / 8192);
	check_alignment<65536>(4 * MIB / 65536);
	check_alignment<2 * MIB>(2);
}

void more_bytes_than_a_size_holds_is_a_bad_array_length()
{
	allocator<std::uint64_t> numbers;
	allocator<aligned<65536>> blocks;

	CHECK_THROWS(std::bad_array_new_length, numbers.allocate(SIZE_MAX / 8 + 1));
	CHECK_THROWS(std::bad_array_new_length, numbers.allocate(SIZE_MAX));
	CHECK_THROWS(std::bad_array_new_length, blocks.allocate(SIZE_MAX / 65536 + 1));
}

void more_than_there_is_is_a_bad_alloc_that_says_why()
{
	allocator<char> chars;
	allocator<std::uint64_t> numbers;

	CHECK_THROWS(hashdist::bad_alloc, chars.allocate(SIZE_MAX));
	CHECK_THROWS(hashdist::bad_alloc, chars.allocate(PTRDIFF_MAX));
	CHECK_THROWS(hashdist::bad_alloc, numbers.allocate(SIZE_MAX / 8));
	try {
		static_cast<void>(numbers.allocate(std::size_t(1) << 43));
		CHECK(!"64 TiB were had");
	} catch (const hashdist::bad_alloc &error) {
		std::printf("  %s\n", error.what());
		CHECK(error.error == ENOMEM);
		CHECK(std::strlen(error.what()) > 0);
		CHECK(error.why != HD_WHY_MET);
		CHECK(std::string_view(hd_why_name(error.why)) != "?");
	}
}

void a_standard_handler_catches_it()
{
	bool caught = false;

	try {
		static_cast<void>(allocator<char>().allocate(PTRDIFF_MAX));
	} catch (const std::bad_alloc &) {
		caught = true;
	}
	CHECK(caught);
}

void a_failure_tells_the_policy_nothing()
{
	const unsigned before = counting::tables;

	CHECK_THROWS(hashdist::bad_alloc, (allocator<char, counting>().allocate(PTRDIFF_MAX)));
	CHECK(counting::tables == before);
}

void a_want_that_cannot_be_is_a_bad_alloc_with_its_errno()
{
	try {
		static_cast<void>(allocator<char, impossible>().allocate(2 * MIB));
		CHECK(!"a name with a bracket was taken");
	} catch (const hashdist::bad_alloc &error) {
		CHECK(error.error == EINVAL);
	}
}

void got_tells_only_of_tables()
{
	int local = 0;
	allocator<char> chars;
	char *const table = chars.allocate(4 * MIB);

	CHECK(!hashdist::got(nullptr) && !hashdist::got(&local) && !hashdist::got(table + 4096));
	CHECK(hashdist::got(table)->bytes >= 4 * MIB);
	chars.deallocate(table, 4 * MIB);
	CHECK(!hashdist::got(table));
}

} // namespace

int main()
{
	RUN(types_are_what_the_standard_requires);
	RUN(a_policy_is_kept_through_rebinding_and_is_part_of_the_type);
	RUN(any_two_are_equal_and_free_each_others_blocks);
	RUN(the_threshold_is_where_tables_begin);
	RUN(the_threshold_counts_bytes_not_elements);
	RUN(tables_are_zeroed_and_all_there);
	RUN(a_policy_sets_the_threshold_and_the_want_and_hears_what_came_of_it);
	RUN(every_alignment_is_kept);
	RUN(more_bytes_than_a_size_holds_is_a_bad_array_length);
	RUN(more_than_there_is_is_a_bad_alloc_that_says_why);
	RUN(a_standard_handler_catches_it);
	RUN(a_failure_tells_the_policy_nothing);
	RUN(a_want_that_cannot_be_is_a_bad_alloc_with_its_errno);
	RUN(got_tells_only_of_tables);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * hashdist.hpp - large tables of C++ containers, placed right: an allocator, C++17
 *
 *	std::vector<entry, hashdist::allocator<entry>> table(entries);
 *
 * A block of 2 MiB or more is a table of its own, from hd_alloc(); a smaller one
 * fills no large page, and comes from operator new. Both go back the way they came,
 * by their size. So a container's large array is placed right while its nodes stay
 * where they were.
 *
 * A policy says what is wanted, and hears what came of it:
 *
 *	struct spread : hashdist::policy {
 *		static hd_want want() noexcept
 *		{
 *			hd_want want = {};
 *			want.nodes = HD_NODES_SPREAD;
 *			return want;
 *		}
 *	};
 *	std::vector<entry, hashdist::allocator<entry, spread>> table(entries);
 *
 * It is part of the type, so that an allocator takes no room in its container, and
 * any two of the same policy may free each other's blocks.
 *
 * Containers write to all they are given, be it zero already, and when they grow hold
 * the old block beside the new: reserve what will be needed.
 */
#ifndef HASHDIST_HASHDIST_HPP
#define HASHDIST_HASHDIST_HPP

#include <hashdist/hashdist.h>

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>
#include <optional>
#include <type_traits>

namespace hashdist
{

/** What allocators do by default. Derive from it, and hide what is to differ. */
struct policy {
	/** Bytes, not 0: blocks of this size and more are tables. */
	static constexpr std::size_t threshold = std::size_t(2) << 20;

	/** Asked before each table; must not throw. */
	static hd_want want() noexcept
	{
		return {};
	}

	/** Told of each table, before its container is; must not throw. */
	static void placed(const void * /* start */, const hd_got & /* got */) noexcept
	{
	}
};

/** A table that could not be had; a std::bad_alloc that tells why. */
class bad_alloc : public std::bad_alloc
{
      public:
	bad_alloc(int negative_errno, const hd_got &got) noexcept
	    : error(-negative_errno), why(got.pages_why)
	{
		hd_got_text(&got, text, sizeof(text));
	}

	/** The sentence of hd_got_text(), cut at 255 bytes. */
	const char *what() const noexcept override
	{
		return text;
	}

	int error;    /* errno, positive */
	unsigned why; /* enum hd_why: the limit in the way, when error is ENOMEM */

      private:
	char text[256];
};

namespace detail
{

/* Pages are never smaller than this: what a table is aligned to at least. */
constexpr std::size_t base_page = 4096;

/* Built without exceptions, a program ends here, as it does in operator new. */
template <class Exception, class... Arguments>
[[noreturn]] inline void fail(const Arguments &...arguments)
{
#if defined(__cpp_exceptions)
	throw Exception(arguments...);
#else
	(static_cast<void>(arguments), ...);
	std::abort();
#endif
}

template <class Policy> void *table_alloc(std::size_t bytes)
{
	const hd_want want = Policy::want();
	void *start = nullptr;
	hd_got got = {};
	const int error = hd_alloc(bytes, &want, &start, &got);

	if (error)
		fail<bad_alloc>(error, got);
	Policy::placed(start, got);
	return start;
}

} // namespace detail

/**
 * allocator - meets the standard's requirements of an allocator; has no state
 * @T:      its alignment may be any; beyond 4 KiB, operator new serves all sizes
 * @Policy: as struct policy
 *
 * Throws std::bad_array_new_length where the size in bytes is no std::size_t,
 * hashdist::bad_alloc where a table cannot be had, and what operator new throws.
 */
template <class T, class Policy = policy> class allocator
{
	static_assert(Policy::threshold > 0, "a table of 0 bytes cannot be had");
	static_assert(std::is_nothrow_invocable_r_v<hd_want, decltype(Policy::want)>,
		      "want() of a policy must be noexcept and return hd_want");
	static_assert(
	    std::is_nothrow_invocable_v<decltype(Policy::placed), const void *, const hd_got &>,
	    "placed() of a policy must be noexcept and take (const void *, const hd_got &)");

      public:
	using value_type = T;
	using propagate_on_container_move_assignment = std::true_type;
	using propagate_on_container_swap = std::true_type;
	using is_always_equal = std::true_type;

	template <class U> struct rebind {
		using other = allocator<U, Policy>;
	};

	constexpr allocator() noexcept = default;

	template <class U> constexpr allocator(const allocator<U, Policy> &) noexcept
	{
	}

	[[nodiscard]] T *allocate(std::size_t n)
	{
		if (n > std::numeric_limits<std::size_t>::max() / sizeof(T))
			detail::fail<std::bad_array_new_length>();
		const std::size_t bytes = n * sizeof(T);

		if (is_table(bytes))
			return static_cast<T *>(detail::table_alloc<Policy>(bytes));
		if constexpr (over_aligned())
			return static_cast<T *>(
			    ::operator new(bytes, std::align_val_t(alignof(T))));
		else
			return static_cast<T *>(::operator new(bytes));
	}

	void deallocate(T *start, std::size_t n) noexcept
	{
		/* Refused only in a child of fork() where the table is not: nothing to free. */
		if (is_table(n * sizeof(T)))
			static_cast<void>(hd_free(start));
		else if constexpr (over_aligned())
			::operator delete(start, std::align_val_t(alignof(T)));
		else
			::operator delete(start);
	}

      private:
	static constexpr bool over_aligned() noexcept
	{
		return alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__;
	}

	static constexpr bool is_table(std::size_t bytes) noexcept
	{
		return bytes >= Policy::threshold && alignof(T) <= detail::base_page;
	}
};

template <class T, class U, class Policy>
constexpr bool operator==(const allocator<T, Policy> &, const allocator<U, Policy> &) noexcept
{
	return true;
}

template <class T, class U, class Policy>
constexpr bool operator!=(const allocator<T, Policy> &, const allocator<U, Policy> &) noexcept
{
	return false;
}

/**
 * got() - where a table is now, as hd_read_got()
 * @start: of a large array, as std::vector::data() gives it
 * Return: nothing when no table begins there: a smaller block, or not one of ours.
 */
[[nodiscard]] inline std::optional<hd_got> got(const void *start) noexcept
{
	std::optional<hd_got> now(std::in_place);

	if (hd_read_got(start, &*now))
		now.reset();
	return now;
}

} // namespace hashdist

#endif

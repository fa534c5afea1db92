/* SPDX-License-Identifier: MIT */
/*
 * place.c - one table in a guest: what the library says of it, and what the kernel says
 *
 *	place WORD...		words are done in the order given
 *
 * circumstances
 *   cgroup=FILE            join a control group: our number into its cgroup.procs
 *   policy=MODE[:NODES]    bind, interleave, preferred, many, weighted, local
 *   cpu=N  thp-off  as=BYTES more of address space  env=NAME=VALUE
 *   deny=CALL              mbind or move_pages answers EPERM from now on
 *   user                   go on without privileges
 *   fill=NODE:LEAVE        another process takes all of a node but LEAVE bytes
 *   fragment=NODE:LEAVE    and gives most of it back, but no whole 2 MiB
 *   unfill                 they end
 * what is wanted
 *   pages= nodes= prefer= fork= (words of hashdist.h)  flag=NAME  threads=N  set=NODES  name=NAME
 * what is done
 *   alloc=BYTES  table=BUCKET,ENTRIES,LOW,HIGH,SCALE  resize=BYTES  repair  read  free
 *   tight=NODE:BYTES       alloc what is free on a node, less BYTES
 *   write  spin=SECONDS    write all of it; go over it again and again
 *   child  look  reap      a child of fork() that stays; one that looks at the table; end of the first
 *   touch=N                write to N places, far from each other
 *   discard                give the second half back to the kernel, as a quick way to clear it
 *   sh=COMMAND             in a shell, as this user
 *
 * Prints one JSON object: an event for each thing done. Beside what the library filled in
 * stand the books, read here and not by the library: smaps, numa_maps, the frame of each
 * page from pagemap, its flags from kpageflags, its node by the memory blocks of sysfs,
 * and move_pages as a question for every base page. Wants root, or "user" after it began.
 *
 * circumstances.c, wanted.c, done.c   the words
 * filler.c  who takes a node's memory
 * books.c   the kernel's books
 * event.c   what is printed
 * text.c    numbers in words and files
 */
#include "tests/kernels/place/place.h"

struct place_now now;

static bool do_word(const struct place_word *words, const char *word)
{
	size_t len = strcspn(word, "=");

	for (; words->word; words++)
		if (strlen(words->word) == len && !strncmp(word, words->word, len)) {
			words->call(word[len] ? word + len + 1 : "");
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	books_open();
	printf("{\"events\":[");
	for (int i = 1; i < argc; i++)
		if (!do_word(place_circumstances, argv[i]) && !do_word(place_wanted, argv[i]) &&
		    !do_word(place_done, argv[i])) {
			errno = EINVAL;
			die("unknown word", argv[i]);
		}
	done_end();
	filler_end();
	printf("\n]}\n");
	return 0;
}

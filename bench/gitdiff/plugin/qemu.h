/* SPDX-License-Identifier: MIT */
/*
 * qemu.h - the functions of the emulator that the plugin calls
 *
 * Debian 12 ships QEMU 7.2 without the header for plugins, and what plugins may call there
 * shows neither registers nor memory. So these are declared by hand: the plugin interface,
 * version 1, and five more functions that this emulator exports to its own modules. An
 * emulator that lacks one refuses to load the plugin, and gitdiff.py says so.
 *
 * What holds in QEMU 7.2 and matters here:
 *
 *  - A callback of memory runs after the access, so what faulted is not seen, and what is
 *    seen has a translation.
 *  - A callback for loads only, or for stores only, is called for the wrong ones: those are
 *    told apart by the information about the access instead.
 *  - General registers are in memory, where they can be read, no later than what follows
 *    needs them there: an access to memory, a function of the emulator such as the one that
 *    writes a control register, the end of a block.
 *  - Pushing the frame of an interrupt is not an access to the callbacks.
 */
#ifndef GITDIFF_QEMU_H
#define GITDIFF_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the plugin interface --------------------------------------------------------------- */

enum { QEMU_PLUGIN_INTERFACE = 1 };

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef struct {
	const char *target_name; /* "x86_64" */
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	union {
		struct {
			int smp_vcpus, max_vcpus;
		} system;
	};
} qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void qemu_plugin_simple_cb(qemu_plugin_id_t id);
typedef void qemu_plugin_udata_cb(qemu_plugin_id_t id, void *data);
typedef void qemu_plugin_tb_cb(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void qemu_plugin_exec_cb(unsigned cpu, void *data);
typedef void qemu_plugin_mem_cb(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address,
				void *data);

/** Forgets all callbacks and all translated code, then calls @cb. */
void qemu_plugin_reset(qemu_plugin_id_t id, qemu_plugin_simple_cb *cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb *cb, void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_cb *cb);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_exec_cb *cb,
					    enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_mem_cb *cb,
				      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
				      void *data);
/** As qemu_plugin_mem_is_store(), without a call at every access. */
static inline bool is_store(qemu_plugin_meminfo_t info)
{
	return info >> 16 & QEMU_PLUGIN_MEM_W;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

/* ---- not of the interface, but exported --------------------------------------------------- */

struct qemu_cpu;

/** A byte array of GLib: only the first two fields are public. */
struct glib_bytes {
	uint8_t *data;
	unsigned len;
};

struct glib_bytes *g_byte_array_new(void);
struct glib_bytes *g_byte_array_set_size(struct glib_bytes *array, unsigned bytes);

struct qemu_cpu *qemu_get_cpu(int number);
/** Appends a register, by its number of the GDB protocol; returns its bytes. */
int x86_cpu_gdb_read_register(struct qemu_cpu *cpu, struct glib_bytes *out, int number);
void cpu_physical_memory_rw(uint64_t physical, void *buffer, uint64_t bytes, bool is_write);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * main.c - a plugin for QEMU that counts the page walks of a part of what a guest does
 *
 *	-plugin gitdiff.so,tlb=kaby-lake,tlb=zen5@4k,out=FILE[,symbols=FILE][,record=FILE,limit=N]
 *
 * Until the guest has handed over its symbols, translated code is looked through for marks and
 * left alone. Then all of it is translated anew, with a call at every access to memory.
 *
 * One thread runs all processors of the guest: -accel tcg,thread=single.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "events.h"
#include "marks.h"
#include "models.h"
#include "output.h"
#include "qemu.h"
#include "record.h"

extern int qemu_plugin_version;
int qemu_plugin_version = QEMU_PLUGIN_INTERFACE;

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

static qemu_plugin_id_t own_id;
static bool counting; /* accesses are looked at */

/* ---- while the guest runs ------------------------------------------------------------------ */

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *pc)
{
	models_access(cpu, address, is_store(info) ? HD_TLB_STORE : HD_TLB_LOAD, (uintptr_t)pc);
}

static void on_access_recorded(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *pc)
{
	record_access(cpu, address, is_store(info) ? HD_TLB_STORE : HD_TLB_LOAD);
	on_access(cpu, info, address, pc);
}

static void on_page_fault(unsigned cpu, void *data)
{
	(void)data;
	events_page_fault(cpu);
}

static void on_event(unsigned cpu, void *data)
{
	events_instruction(cpu, data);
}

static void count_from_now_on(qemu_plugin_id_t id);

static void on_mark(unsigned cpu, void *data)
{
	enum mark mark = (enum mark)(uintptr_t)data;

	marks_handle(cpu, mark);
	if (mark == MARK_SYMBOLS && !counting) {
		counting = true;
		qemu_plugin_reset(own_id, count_from_now_on);
	}
}

/* ---- while its code is translated ---------------------------------------------------------- */

static void watch_mark(struct qemu_plugin_insn *insn, const struct decoded *decoded)
{
	if (decoded->what == DECODED_MARK)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)decoded->value);
}

/* The emulator keeps the pointer as long as the code: never freed, but there are few. */
static void watch_event(struct qemu_plugin_insn *insn, const struct decoded *decoded)
{
	struct decoded *kept;

	if (decoded->what == DECODED_OTHER || decoded->what == DECODED_MARK)
		return;
	kept = malloc(sizeof(*kept));
	if (!kept)
		abort();
	*kept = *decoded;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_event, QEMU_PLUGIN_CB_NO_REGS, kept);
}

static void watch_memory(struct qemu_plugin_insn *insn)
{
	qemu_plugin_register_vcpu_mem_cb(insn, record_is_open() ? on_access_recorded : on_access,
					 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
					 (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	size_t count = qemu_plugin_tb_n_insns(block);

	(void)id;
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
		struct decoded decoded =
		    decode(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));

		watch_mark(insn, &decoded);
		if (!counting)
			continue;
		watch_event(insn, &decoded);
		if (i == 0 && qemu_plugin_insn_vaddr(insn) == marks_fault_handler())
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_page_fault,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
		watch_memory(insn);
	}
}

/* ---- beginning and end --------------------------------------------------------------------- */

static void at_exit(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	if (record_close())
		fprintf(stderr, "gitdiff: not all of the record could be written\n");
}

static void count_from_now_on(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
}

struct options {
	const char *out, *record;
	uint64_t limit;
};

static int take(struct options *options, const char *name, const char *value, unsigned cpus)
{
	if (!strcmp(name, "tlb"))
		return models_add(value, cpus);
	if (!strcmp(name, "out"))
		options->out = value;
	else if (!strcmp(name, "symbols"))
		marks_keep_symbols(value);
	else if (!strcmp(name, "record"))
		options->record = value;
	else if (!strcmp(name, "limit"))
		options->limit = strtoull(value, NULL, 10);
	else
		return -EINVAL;
	return 0;
}

static int take_all(struct options *options, int argc, char **argv, unsigned cpus)
{
	for (int i = 0; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		char name[16];
		int status;

		snprintf(name, sizeof(name), "%.*s", equals ? (int)(equals - argv[i]) : 0, argv[i]);
		status = equals ? take(options, name, equals + 1, cpus) : -EINVAL;
		if (status) {
			fprintf(stderr, "gitdiff: %s: %s\n", argv[i], strerror(-status));
			return status;
		}
	}
	return 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	struct options options = { .limit = UINT64_C(1) << 24 };
	int status;

	if (!info->system_emulation || strcmp(info->target_name, "x86_64")) {
		fprintf(stderr, "gitdiff: only for qemu-system-x86_64\n");
		return -1;
	}
	if (take_all(&options, argc, argv, (unsigned)info->system.max_vcpus))
		return -1;
	if (!options.out || !models_count) {
		fprintf(stderr, "gitdiff: both out=FILE and tlb=NAME are needed\n");
		return -1;
	}
	status = output_open(options.out);
	if (!status && options.record)
		status = record_open(options.record, options.limit);
	if (status) {
		fprintf(stderr, "gitdiff: out=, record=: %s\n", strerror(-status));
		return -1;
	}
	own_id = id;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * facts_text.c - lines that are kept as text: the banner and the command line
 */
#include "facts.h"

/** Copy text, quoted-printable '=' undone. Return: whether it was cut. */
static bool copy_text(char *out, size_t size, const char *p, const char *e)
{
	size_t n = (size_t)(e - p);
	bool cut = n >= size;
	char *w;

	if (cut)
		n = size - 1;
	memcpy(out, p, n);
	out[n] = '\0';
	w = memchr(out, '=', n);
	/* where one '=' is written so, all are */
	if (unlikely(w && w[1] == '3' && w[2] == 'D')) {
		w = out;

		for (const char *r = out; *r; r++) {
			*w++ = *r;
			if (r[0] == '=' && r[1] == '3' && r[2] == 'D')
				r += 2;
		}
		*w = '\0';
	}
	return cut;
}

static const char *trimmed(const char *p, const char *e)
{
	while (e > p && klog__is_blank(e[-1]))
		e--;
	return e;
}

/* ---- banner, command line ------------------------------------------------------------- */

enum taken klog__banner(struct klog *log, struct line *line, bool last)
{
	struct klog_boot *boot = &log->boot;
	const char *p = line->figures, *e, *q;

	if (!last && (line->stamped || !memchr(p, '#', (size_t)(line->end - p))))
		return MORE;
	line->end = e = trimmed(p, line->end);
	if (!klog__boot_banner(log, line))
		return TAKEN;
	for (q = p; q < e && (unsigned char)*q > ' ' && *q != ','; q++)
		;
	copy_text(boot->version, sizeof(boot->version), p, q);
	copy_text(boot->banner, sizeof(boot->banner), line->text, e);
	boot->head_seen = true;
	return TAKEN;
}

enum taken klog__cmdline(struct klog *log, struct line *line, bool last)
{
	struct klog_boot *boot = &log->boot;
	const char *p = line->figures, *e;

	if (!last && line->stamped)
		return MORE;
	klog__boot_line(log, line);
	if (p < line->end && *p == ':')
		p++;
	p = klog__blanks(p, line->end);
	e = trimmed(p, line->end);
	/* the later line has what the boot loader and the kernel have added */
	boot->cmdline_cut = copy_text(boot->cmdline, sizeof(boot->cmdline), p, e);
	boot->has |= KLOG_HAS_CMDLINE;
	return TAKEN;
}

enum taken klog__refused(struct klog *log, struct line *line, bool last)
{
	const char *p = line->figures, *e = trimmed(p, line->end), *q;

	if (p < e && *p == '"') {
		p++;
		q = AFTER(p, e, "\", will be");
		if (!q && !last)
			return MORE;
		if (!q)
			q = memrchr(p, '"', (size_t)(e - p));
		else
			q -= 10;
		if (q)
			e = q;
	} else if (!last && line->stamped) {
		return MORE;
	}
	klog__boot_touch(log);
	copy_text(log->boot.refused, sizeof(log->boot.refused), p, e);
	return TAKEN;
}

/* SPDX-License-Identifier: MIT */
/*
 * serial.c - the first serial port, and the way out
 *
 * Knows the PC's 16550 at 0x3f8, and the port by which QEMU's pc and q35 machines are switched off
 * (PM1a control, sleep type 0; firmware puts it there, real machines elsewhere).
 */
#include <stdarg.h>

#include "kernel.h"

enum {
	PORT = 0x3f8,
	LINE_STATUS = 5,
	ROOM = 0x20, /* the transmitter takes a byte */
	PM_CONTROL = 0x604,
	SLEEP = 0x2000,
};

static void out8(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static void out16(uint16_t port, uint16_t value)
{
	__asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port));
}

static uint8_t in8(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static void put(char c)
{
	while (!(in8(PORT + LINE_STATUS) & ROOM))
		;
	out8(PORT, (uint8_t)c);
}

static void put_text(const char *text)
{
	while (*text)
		put(*text++);
}

static void put_number(uint64_t n, unsigned base)
{
	char digits[20];
	unsigned count = 0;

	do {
		digits[count++] = "0123456789abcdef"[n % base];
		n /= base;
	} while (n);
	while (count)
		put(digits[--count]);
}

void print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	for (const char *at = format; *at; at++) {
		if (*at != '%') {
			put(*at);
			continue;
		}
		switch (*++at) {
		case 's':
			put_text(va_arg(args, const char *));
			break;
		case 'u':
			put_number(va_arg(args, unsigned), 10);
			break;
		case 'l': /* lu, lx */
			put_number(va_arg(args, uint64_t), *++at == 'x' ? 16 : 10);
			break;
		default:
			put(*at);
		}
	}
	va_end(args);
}

void power_off(void)
{
	out16(PM_CONTROL, SLEEP);
	for (;;)
		__asm__ volatile("cli; hlt");
}

void panic(const char *why)
{
	print("panic: %s\n", why);
	power_off();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The exported dlopen(), dlsym() and dlvsym(): see loader.h. Each keeps its arguments, calls
 * wv_route_NAME() with them and the return address, and returns its value (dlsym() and dlvsym(), if
 * it is not 0) or jumps to the next definition with the stack as it found it.
 */
#if defined(__x86_64__) && !defined(__ILP32__)
#if defined(__CET__)
#include <cet.h> /* marks this file, too, as fit for CET */
#else
#define _CET_ENDBR
#endif

/* Leaves the value in rax and the next definition in r11. \caller: the register of the last argument. */
.macro ask name, caller
	.hidden wv_route_\name
	.globl \name
	.type \name, %function
	.balign 16
\name:
	.cfi_startproc
	_CET_ENDBR
	push %rdi
	.cfi_adjust_cfa_offset 8
	push %rsi
	.cfi_adjust_cfa_offset 8
	push %rdx
	.cfi_adjust_cfa_offset 8
	mov 24(%rsp), \caller
	call wv_route_\name
	mov %rdx, %r11
	pop %rdx
	.cfi_adjust_cfa_offset -8
	pop %rsi
	.cfi_adjust_cfa_offset -8
	pop %rdi
	.cfi_adjust_cfa_offset -8
.endm

.macro look_up name, caller
	ask \name, \caller
	test %rax, %rax
	jnz 1f
	jmp *%r11
1:	ret
	.cfi_endproc
	.size \name, . - \name
.endm

	.text
	look_up dlsym, %rdx
	look_up dlvsym, %rcx

	ask dlopen, %rdx
	mov %eax, %esi
	jmp *%r11
	.cfi_endproc
	.size dlopen, . - dlopen

#elif defined(__aarch64__) && !defined(__ILP32__)
#define BTI_C hint #34

#ifdef __ARM_FEATURE_BTI_DEFAULT /* marks this file, too, as fit for BTI */
	.section .note.gnu.property, "a"
	.balign 8
	.word 4, 16, 5 /* bytes of the name, bytes of the property, NT_GNU_PROPERTY_TYPE_0 */
	.asciz "GNU"
	.word 0xc0000000, 4, 1, 0 /* FEATURE_1_AND, bytes, BTI, padding */
#endif

/* Leaves the value in x17 and the next definition in x16: a jump by x16 may land on "bti c". */
.macro ask name, caller
	.hidden wv_route_\name
	.globl \name
	.type \name, %function
	.balign 16
\name:
	.cfi_startproc
	BTI_C
	stp x29, x30, [sp, #-48]!
	.cfi_adjust_cfa_offset 48
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov x29, sp
	stp x0, x1, [sp, #16]
	str x2, [sp, #32]
	mov \caller, x30
	bl wv_route_\name
	mov x17, x0
	mov x16, x1
	ldp x0, x1, [sp, #16]
	ldr x2, [sp, #32]
	ldp x29, x30, [sp], #48
	.cfi_restore x29
	.cfi_restore x30
	.cfi_adjust_cfa_offset -48
.endm

.macro look_up name, caller
	ask \name, \caller
	cbnz x17, 1f
	br x16
1:	mov x0, x17
	ret
	.cfi_endproc
	.size \name, . - \name
.endm

	.text
	look_up dlsym, x2
	look_up dlvsym, x3

	ask dlopen, x2
	mov w1, w17
	br x16
	.cfi_endproc
	.size dlopen, . - dlopen
#endif

	.section .note.GNU-stack, "", %progbits

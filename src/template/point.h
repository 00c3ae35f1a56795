/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a process becomes a template, if it is to be one. */
#pragma once

/*
 * The stop point of programs that do not know of templates, before main(). Else as
 * wv_template_point() (warmverbs-template.h).
 */
void wv_template_main(int *argc, char ***argv);

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tools/check-source on small trees: each check passes a good tree and fails one that has just the fault it names."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
CHECK_SOURCE = ROOT / "tools" / "check-source"
sys.path.insert(0, str(ROOT / "tests"))

from support import cases  # noqa: E402  (the path comes first)

SPDX_C = "/* SPDX-License-Identifier: BSD-2-Clause */\n"
SPDX_SCRIPT = "# SPDX-License-Identifier: BSD-2-Clause\n"

# Two layers: app uses base.
GOOD = {
    "src/base/text.h": SPDX_C + "#pragma once\n#define WIDTH 8\nint text_width(const char *text);\n",
    "src/base/text.c": SPDX_C + '#include "base/text.h"\n\nint text_width(const char *text)\n{\n\treturn WIDTH;\n}\n',
    "src/app/main.c": SPDX_C + '#include "base/text.h"\n\nint main(void)\n{\n\treturn text_width("}");\n}\n',
    "tools/build": "#!/bin/sh\n" + SPDX_SCRIPT + "true\n",
    "meson.build": SPDX_SCRIPT + "project('small', 'c')\n",
    "README.md": "# small\n",
}


def function(name, lines):
    """A function of so many lines."""
    return f"static int {name}(void)\n{{\n" + "\ta++;\n" * (lines - 3) + "}\n"


class CheckSource(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.add(GOOD)

    def add(self, files):
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def run_it(self, *arguments):
        command = [CHECK_SOURCE, "--root", self.root, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def assert_finds(self, check, *expected):
        """`check` alone fails, and says so with these words."""
        result = self.run_it()
        self.assertEqual(result.returncode, 1, result.stdout)
        failed = [line.split(":")[0] for line in result.stdout.splitlines() if line.endswith(": not ok")]
        self.assertEqual(failed, [check], result.stdout)
        for text in expected:
            self.assertIn(text, result.stdout)

    def assert_finds_nothing(self, *checks):
        result = self.run_it(*checks)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_a_good_tree_passes(self):
        self.assert_finds_nothing()

    def test_two_folders_that_include_each_other(self):
        self.add({"src/app/limit.h": SPDX_C + "#define LIMIT 1\n"})
        self.add({"src/base/text.c": GOOD["src/base/text.c"] + '#include "app/limit.h"\n'})
        self.assert_finds("circles", "circle of folders: app, base", "base/text.c includes app/limit.h")

    def test_a_circle_over_a_third_folder(self):
        self.add(
            {
                "src/one/a.h": SPDX_C + '#include "two/b.h"\n',
                "src/two/b.h": SPDX_C + '#include "three/c.h"\n',
                "src/three/c.h": SPDX_C + '#include "one/d.h"\n',
                "src/one/d.h": SPDX_C,
            }
        )
        self.assert_finds("circles", "circle of folders: one, three, two")

    def test_headers_of_one_folder_in_a_circle(self):
        self.add({"src/base/a.h": SPDX_C + '#include "b.h"\n', "src/base/b.h": SPDX_C + '#include "base/a.h"\n'})
        result = self.run_it("circles")
        self.assertEqual(result.returncode, 1)
        self.assertIn("circle of headers: base/a.h, base/b.h", result.stdout)

    def test_modules_that_use_each_other(self):
        self.add(
            {
                "src/base/a.h": SPDX_C,
                "src/base/a.c": SPDX_C + '#include "base/b.h"\n',
                "src/base/b.h": SPDX_C,
                "src/base/b.c": SPDX_C + '#include "base/a.h"\n',
            }
        )
        self.assert_finds("modules", "circle of modules: base/a, base/b")

    def test_a_header_of_rows_is_a_part_of_its_module(self):
        self.add({"src/base/text.c": GOOD["src/base/text.c"].replace("base/text.h", "base/rows.h")})
        self.add({"src/base/rows.h": SPDX_C + '#include "base/text.h"\n'})
        self.assert_finds_nothing()

    def test_a_provider_in_a_comment(self):
        self.add({"src/base/text.c": GOOD["src/base/text.c"] + "/* as MLX5 does */\n"})
        self.assert_finds("providers", "base/text.c:8: /* as MLX5 does */")

    def test_a_provider_in_its_own_folder(self):
        self.add({"src/abi/rows.h": SPDX_C + "/* mlx5 */\n", "src/preload/rxe/mapping.h": SPDX_C + "/* rxe */\n"})
        self.assert_finds_nothing()

    def test_a_basename_in_two_folders(self):
        self.add({"src/app/text.h": SPDX_C})
        self.assert_finds("names", "text: in app, base")

    def test_main_in_two_folders(self):
        self.add({"src/other/main.c": GOOD["src/app/main.c"]})
        self.assert_finds_nothing()

    def test_a_function_defined_twice(self):
        self.add({"src/app/copy.h": SPDX_C + "int text_width(const char *text);\n"})
        self.add({"src/app/copy.c": SPDX_C + "int text_width(const char *text)\n{\n\treturn 0;\n}\n"})
        self.assert_finds("names", "text_width: in app/copy.c, base/text.c")

    def test_a_header_of_two_c_files(self):
        self.add({"src/base/text.h": GOOD["src/base/text.h"] + "extern const int text_max WV_HOT;\n"})
        self.add({"src/base/maximum.c": SPDX_C + "const int text_max[2] = {1, 2};\n"})
        self.assert_finds("headers", "base/text.h: serves base/maximum.c, base/text.c")

    def test_a_header_of_no_c_file(self):
        self.add({"src/base/lost.h": SPDX_C + "int lost(void);\n"})
        self.assert_finds("headers", "base/lost.h: serves no C file, but declares lost")

    def test_an_interface_without_a_header(self):
        self.add({"src/base/other.c": SPDX_C + "int other(void)\n{\n\treturn 0;\n}\n"})
        self.assert_finds("headers", "base/other.c:2: other() is in no header, and not static")

    def test_a_header_of_rows_and_inline_functions_needs_no_c_file(self):
        inline = "struct row {\n\tint a;\n};\nstatic inline int twice(int a)\n{\n\treturn 2 * a;\n}\n"
        self.add({"src/base/rows.h": SPDX_C + inline + "SLIST_HEAD(rows, row);\n"})
        self.assert_finds_nothing()

    def test_a_function_of_41_lines(self):
        self.add({"src/base/text.c": GOOD["src/base/text.c"] + function("longest", 40)})
        self.assert_finds_nothing()
        self.add({"src/base/text.c": GOOD["src/base/text.c"] + function("longest", 41)})
        self.assert_finds("lengths", "base/text.c:8: longest() has 41 lines")

    def test_braces_in_comments_literals_and_macros_do_not_count(self):
        tricky = '/* } */\n#define OPEN \\\n\t{\nstatic char c = \'{\';\nstatic char *s = "\\"}";\n'
        self.add({"src/base/text.c": SPDX_C + '#include "base/text.h"\n' + tricky + function("longest", 41)})
        self.add({"src/base/text.h": SPDX_C})
        self.add({"src/app/main.c": SPDX_C})
        self.assert_finds("lengths", "base/text.c:8: longest() has 41 lines")

    def test_a_file_of_401_lines(self):
        self.add({"src/base/long.h": SPDX_C + "\n" * 399, "src/base/long_rows.h": SPDX_C + "\n" * 400})
        self.assert_finds_nothing()
        self.add({"src/base/long.h": SPDX_C + "\n" * 400})
        self.assert_finds("lengths", "base/long.h: 401 lines")

    def test_licence_lines(self):
        self.add({"src/base/bare.h": "#pragma once\n", "tools/bare": "#!/bin/sh\ntrue\n", "tools/data.json": "{}\n"})
        self.add({"src/base/late.h": "#pragma once\n" + SPDX_C})
        self.assert_finds("spdx", "src/base/bare.h: ", "src/base/late.h: ", "tools/bare: does not begin with # SPDX-")

    def add_comment(self, text):
        self.add({"src/base/said.h": SPDX_C + text + "\n"})

    def test_comments(self):
        for text in ("/* one line */", "/*\n * two\n *\n *\tlines\n */", "/**\n * for a tool\n */",
                     "#define A 1 /* beside code,\n\t     * of two lines */", "/* " + "x" * 94 + " */"):
            with self.subTest(text):
                self.add_comment(text)
                self.assert_finds_nothing()

    def test_comments_of_another_form(self):
        for text, fault in {
            "/* " + "x" * 95 + " */": "2: 101 columns wide",
            "/*\n *\t" + "x" * 93 + "\n */": "3: 101 columns wide",
            "// a line": "2: not between",
            "/*tight */": "2: a space",
            "/* */": "2: a space",
            "/* beside it\n */": "2: text beside",
            "/*\n *tight\n */": "3: no *",
            "/*\n   bare\n */": "3: no *",
            "/*\n  * not below\n */": "3: no *",
            "/*\n * beside its end */": "3: no */",
            "/*\n * deep\n  */": "4: no */",
            "#define A 1 /* beside code,\n * elsewhere */": "3: no *",
        }.items():
            with self.subTest(text):
                self.add_comment(text)
                self.assert_finds("comments", f"src/base/said.h:{fault}")

    def test_comments_of_tests(self):
        self.add({"tests/unit/small.c": SPDX_C + "// small\n"})
        self.assert_finds("comments", "tests/unit/small.c:2: not between")

    def test_what_looks_like_a_comment(self):
        self.add({"src/base/path.h": SPDX_C + '#define PATH "http://a/*" /* a literal */\n'})
        self.assert_finds_nothing()

    def test_the_graph_in_layers(self):
        lines = self.run_it("--graph").stdout.splitlines()
        self.assertEqual([line.split() for line in lines[1:]], [["1", "app", "base"], ["0", "base"]])

    def test_the_graph_for_graphviz(self):
        self.assertIn('"app" -> "base";', self.run_it("--dot").stdout)

    def test_sizes(self):
        rows = [line.split() for line in self.run_it("--sizes").stdout.splitlines()]
        self.assertIn(["src:", "functions", "2", "4", "4", "4", "base/text.c:", "text_width()"], rows)

    def test_an_unknown_check_is_refused(self):
        result = self.run_it("nonsense")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no check is called nonsense", result.stderr)


if __name__ == "__main__":
    cases.main()

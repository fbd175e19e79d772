#!/usr/bin/env python3
"""The classes of test files, for an entry of ctest each: they run beside each other, and what failed is run again
without the rest of its file.

    classes.py PATTERN FILE...  a line for each file: its name and its classes with tests, if they are more than one;
                                where the pattern matches NAME/CLASS, each test instead, as CLASS.TEST
    classes.py --check FILE...  are these all that unittest would run?
"""
import ast
import importlib.util
import os
import re
import sys
import unittest


def tests_of(path):
    """Of each class with tests, its own or of another class of the file. Nothing of it is run. None, if the file itself
    says what is to be run (load_tests) or cannot be read."""
    with open(path, encoding="utf-8") as file:
        try:
            body = ast.parse(file.read()).body
        except SyntaxError:
            return None  # Python says it better, when it runs the file.
    if any(isinstance(node, ast.FunctionDef) and node.name == "load_tests" for node in body):
        return None
    tests = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            own = {n.name: True for n in node.body if isinstance(n, ast.FunctionDef)}
            # A name is None where a class leaves out a test of its base.
            own |= {t.id: not (isinstance(n.value, ast.Constant) and n.value.value is None) for n in node.body
                    if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
            known = {}
            for base in reversed([b.id for b in node.bases if isinstance(b, ast.Name)]):
                known |= tests.get(base, {})
            tests[node.name] = known | {name: here for name, here in own.items() if name.startswith("test")}
    return {name: found for name, all_of_it in tests.items()
            if (found := [test for test, here in all_of_it.items() if here])}


def loaded(path):
    """What unittest finds in the file."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def of(suite):
        for test in suite:
            if isinstance(test, unittest.TestSuite):
                yield from of(test)
            else:
                yield tuple(test.id().split(".")[-2:])
    try:
        return set(of(unittest.defaultTestLoader.loadTestsFromModule(module)))
    finally:
        sys.path.pop(0)


def check(paths):
    wrong = 0
    for path in paths:
        listed = tests_of(path)
        if listed is None:
            continue
        if differ := {(name, test) for name, tests in listed.items() for test in tests} ^ loaded(path):
            print(f"{path}: {', '.join(map('.'.join, sorted(differ)))}: found by only one of classes.py and unittest")
            wrong = 1
    return wrong


def main():
    if sys.argv[1] == "--check":
        return check(sys.argv[2:])
    for path in sys.argv[2:]:
        name = re.sub(r"test_(.*)\.py$", r"\1", path)
        entries = []
        for each, tests in (tests_of(path) or {}).items():
            by_case = re.fullmatch(sys.argv[1], f"{name}/{each}")
            entries += [f"{each}.{test}" for test in tests] if by_case else [each]
        print(path, *(entries if len(entries) > 1 else []))
    return 0


if __name__ == "__main__":
    sys.exit(main())

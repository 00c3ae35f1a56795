# SPDX-License-Identifier: BSD-2-Clause
"""Directed graphs: {node: set of nodes it points to}."""


def circles(graph):
    """The sets of nodes that reach each other (strongly connected components of more than one node, or a loop)."""
    reach = {node: reachable(graph, node) for node in graph}
    found = []
    for node in sorted(graph):
        if node in reach[node] and not any(node in circle for circle in found):
            found.append({other for other in reach[node] if node in reach[other]})
    return found


def reachable(graph, start):
    """All nodes that can be reached from `start` in one step or more."""
    seen, waiting = set(), [start]
    while waiting:
        for node in graph[waiting.pop()] - seen:
            seen.add(node)
            waiting.append(node)
    return seen


def layers(graph):
    """{node: layer}: one above the highest that it points to. Nodes of one circle share a layer."""
    circle_of = {node: frozenset([node]) for node in graph}
    for circle in circles(graph):
        circle_of.update(dict.fromkeys(circle, frozenset(circle)))
    layer = {}

    def place(circle):
        if circle not in layer:
            below = {circle_of[target] for node in circle for target in graph[node]} - {circle}
            layer[circle] = max((place(each) + 1 for each in below), default=0)
        return layer[circle]

    return {node: place(circle_of[node]) for node in graph}

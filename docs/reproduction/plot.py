#!/usr/bin/env python3
"""Draws accuracy over time from results of `souk train-sim --json`.

    plot.py TITLE LABEL=FILE... > curve.svg

A line is the mean of an epoch's checks, the band around it their range. For light and dark pages.
"""
import json
import math
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 56, 616, 40, 312
COLOURS = ["#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b83280", "#718096"]


def main(title, arguments):
    series = []
    for argument in arguments:
        label, file = argument.split("=", 1)
        with open(file) as text:
            series.append((label, json.load(text)["rows"]))
    most = max(row["seconds"] for _, rows in series for row in rows)

    def at(seconds, accuracy):
        x = LEFT + (RIGHT - LEFT) * seconds / most
        return f"{x:.1f},{BOTTOM - (BOTTOM - TOP) * accuracy:.1f}"

    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
          f'aria-label="{title}">')
    print("<style>text{font:12px sans-serif;fill:#333}.grid{stroke:#ddd}"
          "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}}</style>")
    print(f'<text x="{LEFT}" y="22">{title}</text>')
    for tenth in range(0, 11, 2):
        y = BOTTOM - (BOTTOM - TOP) * tenth / 10
        print(f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
              f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>')
    step = 10 ** math.floor(math.log10(most / 2))
    step *= 2 if most / step > 8 else 1
    for i in range(int(most // step) + 1):
        x = LEFT + (RIGHT - LEFT) * i * step / most
        print(f'<text x="{x:.1f}" y="{BOTTOM + 18}" text-anchor="middle">{i * step:g} s</text>')
    for i, (label, rows) in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        band = [at(r["seconds"], r["high"]) for r in rows]
        band += [at(r["seconds"], r["low"]) for r in reversed(rows)]
        line = " ".join(at(r["seconds"], r["mean"]) for r in rows)
        print(f'<polygon points="{" ".join(band)}" fill="{colour}" opacity=".15"/>'
              f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        x = LEFT + i * (RIGHT - LEFT) / len(series)
        print(f'<rect x="{x:.1f}" y="{HEIGHT - 18}" width="10" height="10" fill="{colour}"/>'
              f'<text x="{x + 14:.1f}" y="{HEIGHT - 9}">{label}</text>')
    print("</svg>")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])

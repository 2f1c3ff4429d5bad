"""The chart of docs/choose.md: `python docs/flow_chart.py > docs/choose.svg` draws it anew.

The colours are those of the site, so that the chart is light or dark as its page is.
"""

from html import escape

WIDTH, MARGIN = 1000, 10
QUESTION, BOX, HEIGHT, GAP = 190, 178, 62, 14  # widths, the height of a box, the room between them

QUESTIONS = [
    (
        "1. Estimator",
        ["What is to be", "predicted?"],
        [
            ("classes", "MKLClassifier", "api/generated/kernelweave.MKLClassifier.html"),
            ("numbers", "MKLRegressor", "api/generated/kernelweave.MKLRegressor.html"),
            ("outliers, no labels", "MKLOneClass", "api/generated/kernelweave.MKLOneClass.html"),
            ("survival times", "MKLSurvival", "survival.html"),
            ("with p and C chosen", "MKL…CV", "model_selection.html"),
        ],
    ),
    (
        "2. Kernels",
        ["What are the", "examples?"],
        [
            ("a table, first try", "none: the defaults", "defaults.html"),
            ("numbers", "RBF of many widths", "kernels.html"),
            ("categories, texts", "Linear, BagOfWords", "kernels.html"),
            ("several tables", "a kernel per view", "views.html"),
            ("sites at known positions", "WeightedDegree", "strings.html"),
            ("motifs anywhere", "GappedKmer", "gapped-kmers.html"),
            ("similarities", "Precomputed", "views.html#matrices"),
            ("anything else", "a function f(X, Y)", "kernels.html#a-function-of-your-own"),
        ],
    ),
    (
        "3. Norm",
        ["How many of the", "kernels matter?"],
        [
            ("few, or a short list", "norm=1", "which_p.html"),
            ("not sure", "norm=2, or the CV", "which_p.html"),
            ("all equally", "norm=inf", "which_p.html"),
            ("some are similar", "norms.Elliptic", "weights.html#kernels-that-are-alike"),
        ],
    ),
    (
        "4. Solver",
        ["Any special", "requirement?"],
        [
            ("no", '"auto"', "solvers.html"),
            ("over 100,000 noisy rows", '"auto", tol=1e-2', "large.html"),
            ("check a small fit", '"qcqp"', "solvers.html#cone-program"),
            ("sparse and accurate", '"skm"', "solvers.html#support-kernel-machine"),
            ("approximate, fast", "LinearizedMKL", "large.html#alternatives"),
            ("data on a cluster", "kernelweave.dask", "scale.html"),
            ("without Python", "kernelweave fit", "command_line.html"),
        ],
    ),
]


def rounded(kind: str, x: float, y: float, width: float, height: float) -> str:
    """Return a rectangle."""
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>'


def box(x: float, y: float, condition: str, answer: str, link: str) -> str:
    """Return an answer: the condition above, the name below, which links to its page."""
    middle = x + BOX / 2
    return (
        f'<a href="{link}">{rounded("answer", x, y, BOX, HEIGHT)}'
        f'<text class="condition" x="{middle}" y="{y + 24}">{escape(condition)}</text>'
        f'<text class="name" x="{middle}" y="{y + 47}">{escape(answer)}</text></a>'
    )


def question(y: float, height: float, title: str, lines: list[str]) -> str:
    """Return a question, on the left of its answers."""
    middle, first = MARGIN + QUESTION / 2, y + height / 2 - 12
    text = "".join(
        f'<text class="question" x="{middle}" y="{first + 22 * (number + 1)}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    return (
        f"{rounded('question-box', MARGIN, y, QUESTION, height)}"
        f'<text class="title" x="{middle}" y="{first}">{escape(title)}</text>{text}'
    )


def chart() -> str:
    """Return the chart as SVG."""
    parts, y = [], float(MARGIN)
    left = MARGIN + QUESTION + 50
    for number, (title, lines, answers) in enumerate(QUESTIONS):
        rows = -(-len(answers) // 4)
        height = max(rows * HEIGHT + (rows - 1) * GAP, 92)
        first = y + (height - rows * HEIGHT - (rows - 1) * GAP) / 2
        parts.append(question(y, height, title, lines))
        middle = y + height / 2
        parts.append(f'<path class="arrow" d="M{MARGIN + QUESTION} {middle} H{left - 10}"/>')
        for place, answer in enumerate(answers):
            row, column = divmod(place, 4)
            parts.append(
                box(left + column * (BOX + GAP / 2), first + row * (HEIGHT + GAP), *answer)
            )
        y += height
        if number + 1 < len(QUESTIONS):
            x = MARGIN + QUESTION / 2
            parts.append(f'<path class="arrow" d="M{x} {y} V{y + 26}"/>')
            y += 34
    head = (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>'
    )
    body = "\n".join(parts)
    return (
        f'<div class="chart"><svg viewBox="0 0 {WIDTH} {y + MARGIN:g}" role="img" '
        'aria-label="Four questions lead to an estimator, kernels, a norm and a solver; the '
        f'tables below say the same.">{head}\n{body}\n</svg></div>\n'
    )


if __name__ == "__main__":
    print(chart(), end="")

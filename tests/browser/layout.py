"""What is wrong with how a page is laid out, as far as a program can see it."""

from __future__ import annotations

from playwright.sync_api import FrameLocator, Page

_FIND = r"""(body) => {
    const view = body.ownerDocument.defaultView;
    const found = [];
    const tell = (what, element) => {
        const text = (element.textContent || element.getAttribute("aria-label") || "").trim().slice(0, 40);
        const names = typeof element.className === "string" ? element.className : "";
        found.push(`${what}: <${element.localName} class="${names}"> ${text}`);
    };
    const cuts = (style) => /hidden|clip|auto|scroll/.test(style.overflowX + style.overflowY);

    // What of a rectangle can be seen through all that cuts it; null for nothing.
    const seen = (element, rect) => {
        let { left, top, right, bottom } = rect;
        for (let around = element; around && around !== body; around = around.parentElement) {
            const style = view.getComputedStyle(around);
            if (!cuts(style)) continue;
            const box = around.getBoundingClientRect();
            left = Math.max(left, box.left);
            right = Math.min(right, box.right);
            top = Math.max(top, box.top);
            bottom = Math.min(bottom, box.bottom);
        }
        return right - left > 1 && bottom - top > 1 ? { left, top, right, bottom } : null;
    };

    const texts = [];
    for (const element of body.querySelectorAll("*")) {
        if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        if (element.closest(".visually-hidden, [inert], option, select")) continue;
        const style = view.getComputedStyle(element);
        const box = element.getBoundingClientRect();
        if (!box.width || !box.height || style.clipPath === "inset(50%)") continue;  // for those who hear the page
        if (element.matches(".panel, .tile") && element.parentElement) {
            const around = element.parentElement.getBoundingClientRect();
            if (box.right > around.right + 1 || box.left < around.left - 1) tell("wider than what it is in", element);
        }
        const own = [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim());
        if (!own.length) continue;
        // A number that is cut is another number.
        if (element.matches(".number") && element.scrollWidth > element.clientWidth + 1) tell("cut number", element);
        // Text that is cut must say so: with an ellipsis.
        if (/hidden|clip/.test(style.overflowX) && element.scrollWidth > element.clientWidth + 1
            && style.textOverflow !== "ellipsis" && !element.closest("[style*='mask']")) tell("cut", element);
        if (/hidden|clip/.test(style.overflowY) && element.scrollHeight > element.clientHeight + 4
            && !style.webkitLineClamp.match(/\d/)) tell("cut below", element);
        for (const node of own) {
            const range = body.ownerDocument.createRange();
            range.selectNodeContents(node);
            for (const rect of range.getClientRects()) {
                const visible = seen(element, rect);
                if (visible) texts.push({ element, ...visible });
            }
        }
    }

    // Text below something else: what is in front of its middle must be itself, or what it is in or around.
    for (const { element, left, top, right, bottom } of texts) {
        const x = (left + right) / 2;
        const y = (top + bottom) / 2;
        if (x < 0 || y < 0 || x >= view.innerWidth || y >= view.innerHeight) continue;
        const front = body.ownerDocument.elementFromPoint(x, y);
        if (!front || front.contains(element) || element.contains(front)) continue;
        // Rows go below the head of their table, and the page below its bars, when they are scrolled.
        const above = front.closest("[role=row], [class*=head]") ?? front;
        if (/sticky|fixed/.test(view.getComputedStyle(above).position)) continue;
        if (!front.checkVisibility({ checkOpacity: true })) continue;
        tell(`below <${front.localName} class="${front.className}">`, element);
    }

    // Texts over each other.
    texts.sort((a, b) => a.top - b.top);
    for (let i = 0; i < texts.length; i++) {
        for (let j = i + 1; j < texts.length && texts[j].top < texts[i].bottom; j++) {
            const [a, b] = [texts[i], texts[j]];
            if (a.element.contains(b.element) || b.element.contains(a.element)) continue;
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - b.top;
            if (wide > 2 && high > 3) tell(`over "${a.element.textContent.trim().slice(0, 40)}"`, b.element);
        }
    }
    return found;
}"""


_HALF_BLANK = """(around) => {
    const boxes = [...around.querySelectorAll(".panel, .tile, .answer, .run-answer, .path-answer")]
        .filter((element) => !element.parentElement.closest(".panel"))
        .map((element) => element.getBoundingClientRect())
        .filter(({ width, height }) => width && height);
    const { width } = around.getBoundingClientRect();
    const top = Math.min(...boxes.map((box) => box.top));
    const bottom = Math.max(...boxes.map((box) => box.bottom));
    let blank = 0;
    for (let y = top; y < bottom; y += 4) {
        const across = boxes.filter((box) => box.top <= y && y < box.bottom);
        const covered = across.reduce((sum, box) => sum + box.width, 0);
        // A gap between rows is no part of the page.
        if (covered > 0 && covered < 0.6 * width) blank += 4;
    }
    return blank;
}"""


def half_blank(ui: Page | FrameLocator, selector: str) -> float:
    """How high the part of a page is, pixels, in which nothing stands beside a panel that leaves 40 % of the width."""
    height: float = ui.locator(selector).evaluate(_HALF_BLANK)
    return height


def faults(ui: Page | FrameLocator) -> list[str]:
    """Panels wider than their place; text that is cut without an ellipsis, below something else or over other text.

    Of what is drawn on canvases nothing is known here.
    """
    found: list[str] = ui.locator("body").evaluate(_FIND)
    return found

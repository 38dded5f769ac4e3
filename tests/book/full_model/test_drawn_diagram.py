"""The drawing of the encoder-decoder in Chromium: legible on a phone, every word inside its box."""

import pytest

from book.full_model import transformer_diagram

pytestmark = pytest.mark.browser

PAGE = '<!doctype html><meta name="viewport" content="width=device-width"><body>{}</body>'


@pytest.mark.parametrize("width", [390, 1200])
def test_words_stay_inside_their_boxes_and_large_enough_to_read(browser, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.set_content(PAGE.format(transformer_diagram().data))
    outside, smallest = page.evaluate(
        """() => {
        const inside = (a, b) => a.left >= b.left + 2 && a.right <= b.right - 2;
        const box = (node) => node.getBoundingClientRect();
        const boxes = [...document.querySelectorAll('svg rect')].map(box);
        const outside = [], sizes = [];
        for (const text of document.querySelectorAll('svg text')) {
          const own = box(text), middle = (own.top + own.bottom) / 2;
          sizes.push(parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a);
          for (const other of boxes) {
            const over = own.left < other.right && own.right > other.left;
            const here = middle > other.top && middle < other.bottom;
            if (over && here && !inside(own, other)) outside.push(text.textContent);
          }
        }
        return [outside, Math.min(...sizes)];
        }"""
    )
    assert outside == []
    assert smallest >= 11
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()

import assert from 'node:assert/strict'
import { JSDOM } from 'jsdom'
import { escapeHtml } from '../../../src/common/escape-html.ts'

describe('escapeHtml', () => {
  it('keeps every text as it is, in an element and in an attribute', () => {
    for (const text of ['<b>&amp; "x" \'y\'</b>', '&#60;', '"><script>', "a='b'", '&lt', '😀 żółć', '']) {
      const { document } = new JSDOM(`<p title="${escapeHtml(text)}">${escapeHtml(text)}</p>`).window
      const element = document.body.firstElementChild
      assert.deepEqual(
        [element?.getAttribute('title'), element?.innerHTML === '', element?.textContent],
        [text, text === '', text],
      )
      assert.equal(document.body.childElementCount, 1)
      assert.equal(element?.childElementCount, 0)
    }
  })
})

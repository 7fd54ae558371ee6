import assert from 'node:assert/strict'
import fc from 'fast-check'
import { JSDOM } from 'jsdom'
import { asPreview, PLACE_PREVIEW, PreviewStore, previewHtml } from '../../../src/app/page-preview.ts'
import { conversationMessages } from '../../../src/bridge/conversation-messages.ts'
import {
  MAX_PREVIEW_LENGTH,
  PREVIEW_TAGS,
  type Preview,
  type PreviewPart,
} from '../../../src/bridge/preview.ts'
import { scaledRuns } from '../../support/property-tests.ts'

const preview = (rows: PreviewPart[], more: Partial<Preview> = {}): Preview => ({
  themeId: 'dark',
  colors: { '--parley-quiet': 'rgb(1 2 3)' },
  title: 'Title',
  besideTitle: 60,
  dock: 86.5,
  composer: 66,
  rows,
  ...more,
})
const message = (of: Preview) =>
  conversationMessages['conversation/preview'].safeParse({ key: 'a/s', revision: 1, preview: of })

/** A page with the preview that the host writes into it. */
function pageOf(of: Preview, themeId = 'dark'): Document {
  const html = `<body data-vscode-theme-id="${themeId}">${previewHtml(of, 'Looking for agents…')}</body>`
  const { window } = new JSDOM(html, { runScripts: 'outside-only' })
  window.eval(PLACE_PREVIEW)
  return window.document
}

describe('the preview of a conversation', () => {
  it('contains the title and the rows, inert and hidden from assistive technology', () => {
    const document = pageOf(
      preview([
        { tag: 'div', class: 'row row-markdown' },
        { tag: 'ol', start: 3, dir: 'rtl' },
        { tag: 'li' },
        'one',
        { tag: 'br' },
        null,
        'more',
        null,
        null,
        { tag: 'svg', class: 'codicon', size: [16, 16.5] },
        null,
        null,
      ]),
    )
    const shown = document.getElementById('preview')!
    assert.ok(shown.hasAttribute('inert'))
    assert.equal(shown.getAttribute('aria-hidden'), 'true')
    assert.equal(shown.querySelector('h1')?.textContent, 'Title')
    assert.equal(
      shown.querySelector('.row')?.outerHTML,
      '<div class="row row-markdown"><ol dir="rtl" start="3"><li>one<br>more</li></ol>' +
        '<svg class="codicon" width="16" height="16.5"></svg></div>',
    )
    assert.equal(shown.querySelector<HTMLElement>('.dock')?.style.height, '86.5px')
    assert.equal(shown.querySelector<HTMLElement>('.composer')?.style.height, '66px')
  })

  it('has the colors of the theme only if the theme is still the same', () => {
    const quiet = (document: Document) => document.documentElement.style.getPropertyValue('--parley-quiet')
    assert.equal(quiet(pageOf(preview([]))), 'rgb(1 2 3)')
    assert.equal(quiet(pageOf(preview([]), 'light')), '')
  })

  it("can't contain anything that runs, loads or links, whatever an agent wrote", () => {
    const hostile = `"><script>bad()</script><img src=x onerror=bad()></template></style><a href="command:x">'`
    const html = previewHtml(
      preview(
        [
          { tag: 'script' },
          hostile,
          null,
          { tag: hostile, class: hostile, dir: hostile as 'ltr', start: hostile as never },
          hostile,
        ],
        { title: hostile, colors: { [hostile]: hostile } },
      ),
      hostile,
    )
    const { document } = new JSDOM(`<body>${html}<p id="after"></p></body>`).window
    assert.equal(
      document.querySelectorAll('script, img, style, template, [href], [src], [onerror]').length,
      0,
    )
    assert.equal(document.querySelector('h1')?.textContent, hostile)
    assert.equal(document.getElementById('after')?.parentElement, document.body)
  })

  it('closes its own elements and no others, whatever its parts', () => {
    const part = fc.oneof(
      fc.constant(null),
      fc.string(),
      fc.record({ tag: fc.constantFrom(...PREVIEW_TAGS, 'script') }),
    )
    fc.assert(
      fc.property(fc.array(part), parts => {
        const html = previewHtml(preview(parts as PreviewPart[]), '')
        const { document } = new JSDOM(`<body>${html}<i id="after"></i></body>`).window
        assert.equal(document.getElementById('after')?.parentElement, document.body)
        assert.ok(document.querySelector('#preview .dock'))
      }),
      { numRuns: scaledRuns(60) },
    )
  })

  it('is accepted from a page only with known elements and below a maximum size', () => {
    assert.ok(message(preview([{ tag: 'p' }, 'text', null])).success)
    assert.ok(!message(preview([{ tag: 'script' }, null])).success)
    assert.ok(!message(preview(['x'.repeat(MAX_PREVIEW_LENGTH)])).success)
    assert.ok(!message(preview([], { colors: { color: 'red' } })).success)
  })

  it('is read only if it is valid', () => {
    const stored = preview(['text'])
    assert.equal(asPreview(stored), stored)
    for (const other of [
      undefined,
      null,
      7,
      'text',
      {},
      { rows: 'text' },
      { rows: [7], title: '' },
      { rows: [] },
      preview(['x'.repeat(MAX_PREVIEW_LENGTH)]),
    ])
      assert.equal(asPreview(other), undefined)
  })

  it('is read only if every part is valid, so that showing it never fails', () => {
    for (const damaged of [
      { tag: 7 },
      { tag: 'div', class: { toString: 1 } },
      { tag: 'div', dir: [{ toString: 1 }] },
      { tag: 'ol', start: { toString: 1 } },
      { tag: 'svg', size: 7 },
      { tag: 'svg', size: [{ toString: 1 }] },
      ['text'],
    ])
      assert.equal(asPreview(preview([damaged as never])), undefined, JSON.stringify(damaged))
    for (const more of [
      { colors: null },
      { colors: 'red' },
      { colors: { '--color': 7 } },
      { themeId: 7 },
      { dock: '7' },
      { composer: null },
      { besideTitle: {} },
    ])
      assert.equal(asPreview(preview([], more as never)), undefined, JSON.stringify(more))
    const whole = preview([{ tag: 'svg', class: 'c', dir: 'rtl', start: 1, size: [1, 2.5] }, null])
    assert.equal(asPreview(whole), whole)
  })
})

describe('the stored previews', () => {
  let values: Map<string, unknown>
  let writes: number
  let deleted: Set<string>
  const make = (redact = (text: string) => text) =>
    new PreviewStore(
      {
        get: <T>(key: string) => values.get(key) as T,
        set: (key, value) => {
          writes += 1
          if (value === undefined) values.delete(key)
          else values.set(key, value)
        },
      },
      { redact, isSaved: key => !deleted.has(key) },
    )
  beforeEach(() => {
    values = new Map()
    deleted = new Set()
    writes = 0
  })

  it('are removed when the conversation changes, only once for all chunks of a stream', () => {
    const previews = make()
    previews.save('a/s', preview(['old']))
    previews.save('a/other', preview(['other']))
    const before = writes
    for (let i = 0; i < 100; i++) previews.outdated('a/s')
    assert.equal(writes, before + 1)
    assert.deepEqual([...values.keys()], ['a/other'])
    previews.save('a/s', preview(['new']))
    previews.outdated('a/s')
    assert.deepEqual([...values.keys()], ['a/other'])
  })

  it('are removed with their session, even if another window has stored one since', () => {
    const [one, other] = [make(), make()]
    one.outdated('a/s')
    other.save('a/s', preview(['text']))
    one.remove('a/s')
    assert.equal(values.size, 0)
  })

  it('are removed when the conversation changes again, even if another window has stored one since', () => {
    const [one, other] = [make(), make()]
    one.outdated('a/s')
    other.save('a/s', preview(['text']))
    one.displayed('a/s')
    one.outdated('a/s')
    assert.equal(values.size, 0)
  })

  it("don't include one of a deleted conversation that a page still shows", () => {
    const previews = make()
    deleted.add('a/s')
    previews.save('a/s', preview(['text']))
    assert.equal(values.size, 0)
  })

  it('contain no secret, not even one that is split between elements', () => {
    const previews = make(text => text.replaceAll('hunter2', '•••'))
    previews.save('a/s', preview(['the password is hunt', { tag: 'b' }, 'er2', null]))
    previews.save('a/t', preview([], { title: 'hunter2' }))
    assert.equal(values.size, 0)
  })
})

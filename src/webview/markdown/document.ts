import { type Signal, signal } from '@preact/signals'
import DOMPurify from 'dompurify'
import { LINK } from '../../common/file-links.ts'
import { visible } from '../../common/visible.ts'
import { loadGrammars, takeWanted } from '../tools/highlight.ts'
import { linkTarget } from '../tools/links.ts'
import { BlockStream, type MarkdownBlock } from './blocks.ts'

/** Maximum share of time for parsing and rendering an open block. */
const TIME_SHARE = 1 / 8
/** A long text is parsed in slices of this time, between which the page does other things. Milliseconds. */
const SLICE_MS = 12

/** A displayed Markdown text: its blocks, their cached sanitized HTML, and their observers. */
export class MarkdownDocument {
  readonly #stream = new BlockStream()
  readonly #html = new Map<number, { version: number; html: string }>()
  readonly #watchers = new Map<number, Signal<number>>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #notBefore = 0
  /** Called after a delayed flush; the number of blocks may have changed. */
  onFlushed: (() => void) | undefined
  /** characters appended */
  length = 0

  get blocks(): readonly MarkdownBlock[] {
    return this.#stream.blocks
  }

  append(text: string): void {
    this.length += text.length
    this.#stream.append(text)
  }

  /**
   * Processes appended text, now or as soon as the cost of the last time allows: a long open block is redrawn less often,
   * so that the window never stalls.
   */
  flush(): void {
    const now = performance.now()
    if (this.#timer !== undefined) return
    if (now < this.#notBefore && this.#stream.pendingCost > 4096) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        this.#flushNow()
        this.onFlushed?.()
      }, this.#notBefore - now)
      return
    }
    this.#flushNow()
  }

  #flushNow(): void {
    const start = performance.now()
    const { changed, pending } = this.#stream.flush(SLICE_MS)
    for (const index of changed) {
      const block = this.#stream.blocks[index]
      if (!block) this.#html.delete(index)
      else {
        const watcher = this.#watchers.get(index)
        if (watcher) watcher.value = block.version
      }
    }
    if (!pending) {
      this.spent(performance.now() - start)
      return
    }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#flushNow()
      this.onFlushed?.()
    })
  }

  /** Takes the time that rendering took, in milliseconds, which delays the next {@link flush}. */
  spent(milliseconds: number): void {
    this.#notBefore = Math.max(this.#notBefore, performance.now() + milliseconds / TIME_SHARE)
  }

  /** The version of a block, as a signal that a component reads to be rendered again. */
  watch(index: number): Signal<number> {
    let watcher = this.#watchers.get(index)
    if (!watcher) {
      watcher = signal(this.#stream.blocks[index]?.version ?? 0)
      this.#watchers.set(index, watcher)
    }
    return watcher
  }

  /** Returns the sanitized HTML of a block. The block is rendered again when a grammar that its code needs has loaded. */
  html(index: number): string {
    const block = this.#stream.blocks[index]
    if (!block) return ''
    const rendered = this.#html.get(index)
    if (rendered?.version === block.version) return rendered.html
    const html = sanitize(this.#stream.html(block))
    this.#html.set(index, { version: block.version, html })
    const wanted = takeWanted()
    if (wanted.length > 0) void loadGrammars(wanted).then(isLoaded => isLoaded && this.#redraw(block))
    return html
  }

  #redraw(block: MarkdownBlock): void {
    if (this.#stream.blocks[block.index] !== block) return
    this.#stream.renew(block)
    this.watch(block.index).value = block.version
  }

  dispose(): void {
    clearTimeout(this.#timer)
  }
}

const allowed = {
  ALLOWED_TAGS:
    'a b blockquote br button code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre s samp small span strong sub summary sup table tbody td th thead tr u ul var'.split(
      ' ',
    ),
  ALLOWED_ATTR:
    'href src alt title class data-path data-line data-action data-footnote data-rich data-source data-language data-end start open colspan rowspan dir lang role aria-label aria-hidden tabindex type'.split(
      ' ',
    ),
  ALLOW_DATA_ATTR: false,
  /** applies to links; the sanitizer also allows `data:` in images */
  ALLOWED_URI_REGEXP: LINK,
}

/** Whether the HTML has only tags that prose needs, without attributes: sanitizing it would change nothing. */
export function isPlain(html: string): boolean {
  return !/<(?!\/?(?:p|strong|em|code|ul|ol|li|h[1-6]|br|hr)>)/.test(html)
}

let purifier: typeof DOMPurify | undefined

/** Returns the HTML with only the elements that prose needs; the tooltip of each link shows its target. */
function sanitize(html: string): string {
  if (isPlain(html)) return html
  if (!purifier) {
    // an instance of its own, because the hook is only for prose
    purifier = DOMPurify(window)
    purifier.addHook('afterSanitizeAttributes', node => {
      if (node.nodeName === 'A') sayTarget(node)
    })
  }
  return purifier.sanitize(html, allowed)
}

/** Replaces a title from the agent, which could name a different URL. */
function sayTarget(link: Element): void {
  const path = link.getAttribute('data-path')
  const href = link.getAttribute('href')
  if (link.hasAttribute('data-footnote')) link.removeAttribute('title')
  else if (path !== null) link.setAttribute('title', visible(path))
  else if (href) {
    const { title, host } = linkTarget(href, link.textContent)
    link.setAttribute('title', title)
    if (host !== undefined) link.setAttribute('data-host', host)
  }
}

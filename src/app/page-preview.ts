import {
  MAX_PREVIEW_LENGTH,
  PREVIEW_TAGS,
  type Preview,
  type PreviewElement,
  type PreviewPart,
} from '../bridge/preview.ts'
import { escapeHtml } from '../common/escape-html.ts'
import { isRecord } from '../common/is-record.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'

export interface PreviewStoreOptions {
  /** Replaces secrets in a text. A preview that contains a secret isn't stored. */
  redact: (text: string) => string
  /** Whether the conversation is saved. A page may still show a conversation that was deleted. */
  isSaved: (key: string) => boolean
}

/**
 * The previews of the conversations that this machine's windows showed last, by session. An outdated preview is removed and never shown.
 */
export class PreviewStore {
  readonly #store: KeyValueStore
  readonly #options: PreviewStoreOptions
  /** sessions whose preview was removed because the conversation changed */
  readonly #outdated = new Set<string>()

  constructor(store: KeyValueStore, options: PreviewStoreOptions) {
    this.#store = store
    this.#options = options
  }

  save(key: string, preview: Preview): void {
    if (!this.#options.isSaved(key)) return
    const texts = preview.rows.filter(part => typeof part === 'string')
    // texts are joined, because a secret may continue in the next element
    const text = [preview.title, ...texts].join('')
    if (this.#options.redact(text) !== text) return
    this.#outdated.delete(key)
    this.#store.set(key, preview)
  }

  /**
   * Notes that a page displays the conversation, so that its next change removes the preview again. Another window may have stored one
   * since this window removed it.
   */
  displayed(key: string): void {
    this.#outdated.delete(key)
  }

  /** Removes the preview because the conversation has changed. Called for each chunk of a stream. */
  outdated(key: string): void {
    if (this.#outdated.has(key)) return
    this.#outdated.add(key)
    this.remove(key)
  }

  remove(key: string): void {
    this.#store.set(key, undefined)
  }
}

/**
 * Returns the HTML of a preview, which looks like the page before its script runs. The HTML is inert and hidden from assistive technology.
 * {@link PLACE_PREVIEW} sets what would need inline styles.
 * @param below the text that will be below the conversation at first; the preview only leaves space for it
 */
export function previewHtml({ rows, title, themeId, colors, ...sizes }: Preview, below: string): string {
  const more = JSON.stringify({ themeId, colors, ...sizes })
  return `<div id="preview" inert aria-hidden="true" data-more="${escapeHtml(more)}">
<div class="header"><span class="dot dot-starting"></span><h1 class="header-title truncate" dir="auto"><button type="button" class="header-sessions"><span class="truncate">${escapeHtml(title)}</span></button></h1><span class="preview-beside"></span></div>
<div class="body"><div class="list transcript"><div class="list-content"><div>${htmlOf(rows)}</div><div class="list-footer"><div class="progress-text invisible">${escapeHtml(below)}</div></div></div></div></div>
<div class="dock"><div class="composer"></div></div>
</div>`
}

/** Elements without content. */
const VOID_TAGS = ['br', 'hr']

function htmlOf(parts: readonly PreviewPart[]): string {
  const open: string[] = []
  let html = ''
  for (const part of parts) {
    if (typeof part === 'string') html += escapeHtml(part)
    else if (part === null) html += endOf(open.pop())
    else {
      const tag = tagOf(part, open)
      const attributes = {
        class: part.class,
        dir: part.dir,
        start: part.start,
        width: part.size?.[0],
        height: part.size?.[1],
      }
      html += `<${tag}`
      for (const [name, value] of Object.entries(attributes))
        if (value !== undefined) html += ` ${name}="${escapeHtml(String(value))}"`
      html += '>'
      open.push(tag)
    }
  }
  while (open.length > 0) html += endOf(open.pop())
  return html
}

/**
 * Returns a tag that the HTML parser nests correctly. A start tag `li` closes an open `li`, except in a nested list, and `button` closes an
 * open `button`.
 */
function tagOf({ tag }: PreviewElement, open: readonly string[]): string {
  const fits =
    tag === 'li'
      ? /^[ou]l$/.test(open.at(-1)!)
      : PREVIEW_TAGS.includes(tag) && !(tag === 'button' && open.includes(tag))
  return fits ? tag : 'span'
}

const endOf = (tag: string | undefined): string =>
  tag === undefined || VOID_TAGS.includes(tag) ? '' : `</${tag}>`

type Unchecked<T> = Partial<Record<keyof T, unknown>>

/**
 * Returns a stored preview if it's valid, since another version of Parley may have written it. Checks without zod, which would delay the
 * start.
 */
export function asPreview(value: unknown): Preview | undefined {
  if (!isRecord(value)) return undefined
  const { title, themeId, colors, besideTitle, dock, composer, rows }: Unchecked<Preview> = value
  const fits =
    [title, themeId].every(isText) &&
    [besideTitle, dock, composer].every(isNumber) &&
    isRecord(colors) &&
    Object.values(colors).every(isText) &&
    Array.isArray(rows) &&
    rows.every(part => isText(part) || part === null || isElement(part))
  return fits && JSON.stringify(value).length <= MAX_PREVIEW_LENGTH
    ? (value as unknown as Preview)
    : undefined
}

function isElement(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { tag, class: names = '', dir = '', start = 1, size = [] }: Unchecked<PreviewElement> = value
  return [tag, names, dir].every(isText) && isNumber(start) && Array.isArray(size) && size.every(isNumber)
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isNumber = (value: unknown): boolean => typeof value === 'number'

/** The script that gives a preview its sizes, and its colors if the theme is still the same. */
export const PLACE_PREVIEW = `{
  const preview = document.getElementById("preview")
  const { themeId, colors, besideTitle, dock, composer } = JSON.parse(preview.dataset.more)
  if (document.body.dataset.vscodeThemeId === themeId)
    for (const name in colors) document.documentElement.style.setProperty(name, colors[name])
  const find = name => preview.querySelector(name)
  find(".preview-beside").style.width = besideTitle + "px"
  find(".dock").style.height = dock + "px"
  find(".composer").style.height = composer + "px"
  find(".list").scrollTop = 1e9
}`

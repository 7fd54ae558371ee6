import { markdown } from './parser.ts'
import { continuesText } from './plain.ts'

/** A top-level block of a Markdown text that may still be growing. */
export interface MarkdownBlock {
  /** position among the blocks of the text; never changes */
  readonly index: number
  /** markdown-it's name of the block: `paragraph`, `fence`, `bullet_list`, … */
  type: string
  /** the block's own lines, with the blank lines and link definitions before it */
  source: string
  /** No later text changes the block (except a link definition, see {@link BlockStream.flush}). */
  closed: boolean
  /** Increases whenever the block's HTML may have changed. */
  version: number
  /** Version since which appended text only continued the block's last line: see `plain.ts`. */
  settled: number
}

/** The changes of a `flush`: indexes of blocks that are new or have a different source, in ascending order. */
export interface BlockChanges {
  changed: number[]
  /** number of blocks before the flush */
  before: number
  /** The time was up before everything was parsed; another flush continues. */
  pending: boolean
}

interface Reference {
  href: string
  title: string
}
interface Group {
  type: string
  /** the line after the block's last line */
  end: number
}
/** Longer blocks are cut, since each step takes time in proportion to the length of the open block. Characters. */
const MAX_BLOCK = 16_384
const cuttable = new Set([
  'paragraph',
  'heading',
  'bullet_list',
  'ordered_list',
  'blockquote',
  'table',
  'code_block',
  'html_block',
])
/** Blocks whose last line may continue without being parsed. */
const growing = new Set(['paragraph', 'heading', 'bullet_list', 'ordered_list', 'blockquote', 'table'])

/** Maximum length of text parsed in one step. Characters. */
const MAX_PARSED_AT_ONCE = 2 * MAX_BLOCK
/** A block of this length that has no good place for a cut is cut at the end of a line. Characters. */
const MAX_WHOLE_BLOCK = 4 * MAX_BLOCK

interface OpenFence {
  /** the fence character, and the minimum length of its closing fence */
  mark: string
  length: number
  /** position in the tail of the first line not yet searched for the closing fence */
  searched: number
}

/**
 * Splits a growing markdown text into top-level blocks so that a closed block is never parsed again. CommonMark
 * decides block structure line by line: once another top-level block begins in a complete line, the blocks before it are
 * settled. Only the rest, the tail, is parsed again as it grows. The blocks' HTML, joined, is the HTML of the whole text
 * (except that blocks of more than 16,384 characters are cut unless they are fences).
 *
 * Only a link definition (`[label]: URL`) affects earlier blocks: blocks that use a label are recorded, and get a new
 * version when its definition is added or changes.
 *
 * Cost of a flush: the length of the tail, or of the appended text if the tail is a fence or only its last line continues. A
 * text of any length is processed in steps of at most 32,768 characters, and a flush does as many as it has time for.
 */
export class BlockStream {
  readonly blocks: MarkdownBlock[] = []
  #closed = 0
  /** source after the last closed block */
  #tail = ''
  /** whether the tail is long and can't be cut; its start decides, which doesn't change */
  #whole = false
  /** length of the processed part of the tail */
  #flushed = 0
  /** a `\r` at the end of the received text, whose `\n` may follow */
  #carriage = false
  #dirty = false
  #newline = false
  #fence: OpenFence | undefined
  readonly #definitions = new Map<string, Reference>()
  #tailDefinitions = new Map<string, Reference>()
  /** labels defined by blocks that the running flush closed */
  readonly #fresh = new Set<string>()
  /** by label: the closed blocks that use it */
  readonly #askers = new Map<string, Set<number>>()

  append(text: string): void {
    if (text === '') return
    let more = this.#carriage ? `\r${text}` : text
    this.#carriage = more.endsWith('\r')
    if (this.#carriage) more = more.slice(0, -1)
    if (more.includes('\r')) more = more.replace(/\r\n?/g, '\n')
    if (more.includes('\n')) this.#newline = true
    this.#tail += more
    this.#dirty = true
  }

  /** Number of characters that a flush would process. */
  get pendingCost(): number {
    if (this.#fence) return this.#tail.length - this.#fence.searched
    return this.#growingLine() ? this.#tail.length - this.#flushed : this.#tail.length
  }

  /**
   * Parses the text appended since the last flush.
   * @param budget the time after which no further step begins, in milliseconds
   */
  flush(budget = Number.POSITIVE_INFINITY): BlockChanges {
    const before = this.blocks.length
    if (!this.#dirty) return { changed: [], before, pending: false }
    this.#dirty = false
    const line = this.#growingLine()
    if (line) {
      line.source += this.#tail.slice(this.#flushed)
      line.version++
      this.#flushed = this.#tail.length
      return { changed: [line.index], before, pending: false }
    }
    if (this.#fence && this.#growFence(this.#fence))
      return { changed: [this.#closed], before, pending: false }
    const firstOpen = this.#closed
    const pending = !this.#cutLong(performance.now() + budget)
    if (pending) this.#dirty = true
    else if (this.#newline && !this.#fence) this.#close()
    if (!pending) this.#newline = false
    const changed = new Set<number>()
    for (let i = firstOpen; i < this.#closed; i++) changed.add(i)
    if (this.#fence) this.#putFence(changed)
    else if (!pending) this.#parseTail(changed)
    this.#flushed = this.#tail.length
    return { changed: [...changed].sort((a, b) => a - b), before, pending }
  }

  /** Makes the whole tail one block: a long open fence. */
  #putFence(changed: Set<number>): void {
    if (this.#put(this.#closed, 'fence', this.#tail, false)) changed.add(this.#closed)
    for (let i = this.#closed + 1; i < this.blocks.length; i++) changed.add(i)
    this.blocks.length = this.#closed + 1
    this.#relink({}, changed)
  }

  /** The HTML of one block, unsanitized. */
  html(block: MarkdownBlock): string {
    const references = new Proxy({} as Record<string, Reference>, {
      get: (_target, label) => {
        if (typeof label !== 'string') return undefined
        if (block.closed) this.#remember(label, block.index)
        return this.#definitions.get(label) ?? this.#tailDefinitions.get(label)
      },
      set: () => true,
    })
    return markdown.render(block.source, { references })
  }

  /** Returns the open block if all appended text continues its last line. */
  #growingLine(): MarkdownBlock | undefined {
    const block = this.blocks.at(-1)
    if (!block || block.closed || this.#newline || this.#fence || !growing.has(block.type)) return undefined
    // a link definition's title may continue, too
    if ((this.#tail.length >= MAX_BLOCK && !this.#whole) || block.source.includes(']:')) return undefined
    return continuesText(block.source, this.#tail.slice(this.#flushed)) ? block : undefined
  }

  /** Appends to an open fence without parsing; returns false if the fence may have ended. */
  #growFence(fence: OpenFence): boolean {
    const complete = this.#tail.lastIndexOf('\n') + 1
    const lines = this.#tail.slice(fence.searched)
    // the incomplete last line may already close the fence, too
    for (const line of lines.split('\n')) {
      if (endsFence(line, fence)) {
        this.#fence = undefined
        return false
      }
    }
    fence.searched = Math.max(fence.searched, complete)
    const block = this.blocks[this.#closed]!
    block.source = this.#tail
    this.renew(block)
    this.#newline = false
    return true
  }

  /** Closes every settled block of the tail. */
  #close(): void {
    const complete = this.#tail.slice(0, this.#tail.lastIndexOf('\n') + 1)
    this.#closeGroups(complete, topLevel(complete, {}), -1)
  }

  /**
   * Cuts very long blocks at the least visible place, so that the tail always stays short. The positions depend only on
   * the text, not on its chunks.
   */
  #cutLong(until: number): boolean {
    this.#fence = undefined
    for (let steps = 0; this.#tail.length >= (this.#whole ? MAX_WHOLE_BLOCK : MAX_BLOCK); steps++) {
      if (steps > 0 && performance.now() >= until) return false
      const fence = longFence(this.#tail)
      if (fence === 'open') {
        this.#fence = openFence(this.#tail)
        return true
      }
      if (fence !== undefined) this.#closeBlock('fence', fence)
      else if (this.#whole) this.#cutAnyway()
      else if (!this.#cutOne()) return true
    }
    return true
  }

  /**
   * Closes settled blocks at the start of a long tail, or cuts its first long block; returns false if neither is
   * necessary.
   */
  #cutOne(): boolean {
    const part = beginningOf(this.#tail)
    const groups = topLevel(part, {})
    const lines = lineStarts(part)
    const startOf = (i: number) => (groups[i - 1] ? (lines[groups[i - 1]!.end] ?? 0) : 0)
    const isPart = part.length < this.#tail.length
    const index = groups.findIndex(
      (group, i) => (lines[group.end] ?? part.length) - startOf(i) >= MAX_BLOCK && cuttable.has(group.type),
    )
    if (index < 0) {
      if (isPart && groups.length > 1) {
        this.#closeGroups(part, groups, -1)
        return true
      }
      this.#whole = isPart
      return isPart
    }
    this.#closeGroups(part, groups, index)
    const type = groups[index]!.type
    const cut = cutOf(type, this.#tail.slice(0, MAX_PARSED_AT_ONCE))
    if (cut <= 0) {
      this.#whole = true
      return true
    }
    // rows of a table are meaningless without its head
    const head = type === 'table' ? tableHead(this.#tail.slice(0, cut)) : ''
    this.#closeBlock(type === 'heading' ? 'paragraph' : type, cut)
    this.#tail = head + this.#tail
    return true
  }

  /** Cuts a block at a bad place, since no good one exists. A fence in it continues as a separate fence. */
  #cutAnyway(): void {
    const half = MAX_WHOLE_BLOCK / 2
    const line = this.#tail.lastIndexOf('\n', half) + 1
    const cut = line > 0 ? line : isHighSurrogate(this.#tail.charCodeAt(half - 1)) ? half - 1 : half
    const fence = fenceAt(this.#tail.slice(0, cut))
    const type = this.blocks[this.#closed]?.type ?? 'paragraph'
    this.#closeBlock(type, cut)
    if (fence !== '') this.#tail = `${fence}\n${this.#tail}`
    this.#whole = false
  }

  /** Closes the first characters of the tail as one block. */
  #closeBlock(type: string, length: number): void {
    const source = this.#tail.slice(0, length)
    this.#define(source)
    this.#put(this.#closed, type, source, true)
    this.#closed++
    this.#tail = this.#tail.slice(length)
    this.#whole = false
  }

  /** Closes the first `count` groups of the tail; with a negative `count`, all except the last one. */
  #closeGroups(text: string, groups: readonly Group[], count: number): void {
    const settled = groups.slice(0, count < 0 ? -1 : count)
    if (settled.length === 0) return
    this.#whole = false
    const lines = lineStarts(text)
    let from = 0
    for (const group of settled) {
      const to = lines[group.end] ?? text.length
      const source = text.slice(from, to)
      this.#define(source)
      this.#put(this.#closed, group.type, source, true)
      this.#closed++
      from = to
    }
    this.#tail = this.#tail.slice(from)
  }

  #define(source: string): void {
    if (!source.includes(']:')) return
    const references: Record<string, Reference> = {}
    topLevel(source, references)
    for (const [label, reference] of Object.entries(references)) {
      if (this.#definitions.has(label)) continue
      this.#definitions.set(label, reference)
      this.#fresh.add(label)
    }
  }

  #parseTail(changed: Set<number>): void {
    const references: Record<string, Reference> = {}
    const groups = topLevel(this.#tail, references)
    const lines = lineStarts(this.#tail)
    let from = 0
    for (const [offset, group] of groups.entries()) {
      const last = offset === groups.length - 1
      const to = last ? this.#tail.length : (lines[group.end] ?? this.#tail.length)
      const index = this.#closed + offset
      if (this.#put(index, group.type, this.#tail.slice(from, to), false)) changed.add(index)
      from = to
    }
    const count = this.#closed + groups.length
    for (let i = count; i < this.blocks.length; i++) changed.add(i)
    this.blocks.length = count
    this.#fence = groups.length === 1 && groups[0]!.type === 'fence' ? openFence(this.#tail) : undefined
    this.#relink(references, changed)
  }

  #put(index: number, type: string, source: string, closed: boolean): boolean {
    const block = this.blocks[index]
    if (!block) {
      this.blocks.push({ index, type, source, closed, version: 0, settled: 0 })
      return true
    }
    if (block.source === source && block.closed === closed && block.type === type) return false
    block.type = type
    block.source = source
    block.closed = closed
    this.renew(block)
    return true
  }

  /** Gives the block a new version, because its HTML changed although its source may not have. */
  renew(block: MarkdownBlock): void {
    block.version++
    block.settled = block.version
  }

  #remember(label: string, index: number): void {
    let askers = this.#askers.get(label)
    if (!askers) {
      askers = new Set()
      this.#askers.set(label, askers)
    }
    askers.add(index)
  }

  /** Gives a new version to the blocks that use a label whose definition changed. */
  #relink(references: Record<string, Reference>, changed: Set<number>): void {
    const now = new Map(Object.entries(references).filter(([label]) => !this.#definitions.has(label)))
    const before = this.#tailDefinitions
    this.#tailDefinitions = now
    if (now.size === 0 && before.size === 0 && this.#fresh.size === 0) return
    const labels = new Set([...now.keys(), ...before.keys(), ...this.#fresh])
    this.#fresh.clear()
    for (const label of labels) {
      const is = now.get(label) ?? this.#definitions.get(label)
      const was = before.get(label)
      if (is?.href === was?.href && is?.title === was?.title) continue
      for (const index of this.#askers.get(label) ?? []) {
        this.renew(this.blocks[index]!)
        changed.add(index)
      }
      for (let i = this.#closed; i < this.blocks.length; i++) {
        this.renew(this.blocks[i]!)
        changed.add(i)
      }
    }
  }
}

function isList(type: string): boolean {
  return type === 'bullet_list' || type === 'ordered_list'
}

/** Returns the position where to cut a long block at the start of a text; 0 if it can't be cut. */
function cutOf(type: string, source: string): number {
  if (isList(type)) return itemCut(source)
  return type === 'paragraph' || type === 'heading' ? textCut(source) : lineCut(type, source)
}

/** Cuts a long block of independent lines after the last line that ends in its second quarter. */
function lineCut(type: string, source: string): number {
  const begin =
    type === 'blockquote' ? /\n(?= {0,3}>)/g : type === 'code_block' ? /\n(?= {4}|\t)/g : /\n(?=[^\n])/g
  let cut = 0
  for (const { index } of source.slice(0, (MAX_BLOCK * 3) / 4).matchAll(begin)) cut = index + 1
  return cut > MAX_BLOCK / 2 ? cut : 0
}

/** Returns the first two lines of a table, with their line ends. */
function tableHead(source: string): string {
  const lines = source.replace(/^\s*\n/, '').split('\n', 2)
  return lines.map(line => `${line}\n`).join('')
}

/** The start of the last item that starts in the first three quarters of a long list; 0 if there is none. */
function itemCut(source: string): number {
  const tokens: ReturnType<typeof markdown.parse> = []
  markdown.block.parse(source.slice(0, MAX_BLOCK), markdown, {}, tokens)
  const lines = lineStarts(source.slice(0, MAX_BLOCK))
  let cut = 0
  for (const token of tokens) {
    if (token.type !== 'list_item_open' || token.level !== 1 || !token.map) continue
    const start = lines[token.map[0]] ?? 0
    if (start <= (MAX_BLOCK * 3) / 4) cut = start
  }
  return cut
}

/** Cuts a long text after a line that ends in its third quarter, else after a space in the fourth, else at its end. */
function textCut(source: string): number {
  const line = source.indexOf('\n', MAX_BLOCK / 2) + 1
  if (line > 0 && line <= (MAX_BLOCK * 3) / 4) return line
  const space = source.indexOf(' ', (MAX_BLOCK * 3) / 4) + 1
  if (space > 0 && space <= MAX_BLOCK) return space
  return isHighSurrogate(source.charCodeAt(MAX_BLOCK - 1)) ? MAX_BLOCK - 1 : MAX_BLOCK
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}

/** Returns the top-level blocks of a text without parsing their inline content; adds definitions to `references`. */
function topLevel(source: string, references: Record<string, Reference>): Group[] {
  const tokens: ReturnType<typeof markdown.parse> = []
  markdown.block.parse(source.replace(/\0/g, '\uFFFD'), markdown, { references }, tokens)
  const groups: Group[] = []
  for (const token of tokens) {
    if (token.level !== 0 || token.nesting < 0 || !token.map || token.type === 'reference_definition')
      continue
    groups.push({ type: token.type.replace(/_open$/, ''), end: token.map[1] })
  }
  return source.includes('<details') ? joinFolds(groups, source) : groups
}

/** Joins everything from `<details>` to `</details>` into one block, since separate blocks couldn't be inside of the element. */
function joinFolds(groups: readonly Group[], source: string): Group[] {
  const lines = lineStarts(source)
  const joined: Group[] = []
  let depth = 0
  let from = 0
  for (const { type, end } of groups) {
    const to = lines[end] ?? source.length
    const before = depth
    if (type === 'html_block') depth += foldsIn(source.slice(from, to))
    from = to
    const last = joined.at(-1)
    if (before > 0 && last) last.end = end
    else joined.push({ type, end })
    depth = Math.max(0, depth)
  }
  return joined
}

/** The number of `<details>` elements opened but not closed in a piece of HTML. */
function foldsIn(html: string): number {
  const count = (tag: RegExp) => html.match(tag)?.length ?? 0
  return count(/<details[\s>]/gi) - count(/<\/details\s*>/gi)
}

function lineStarts(source: string): number[] {
  const starts = [0]
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The start of a long text, up to the end of a line, that is parsed in one step. */
function beginningOf(text: string): string {
  if (text.length <= MAX_PARSED_AT_ONCE) return text
  const line = text.lastIndexOf('\n', MAX_PARSED_AT_ONCE - 1) + 1
  return text.slice(0, line > MAX_BLOCK ? line : MAX_PARSED_AT_ONCE)
}

/** The opening line of a fence at the start of a text, possibly after blank lines. */
interface FenceOpening {
  mark: string
  length: number
  /** position after the opening line */
  end: number
}

/**
 * Reads the opening line by hand, since a regular expression would try every length of the fence. Returns `undefined` if the
 * text doesn't start with a fence, or its first line is incomplete.
 */
function fenceOpening(text: string): FenceOpening | undefined {
  let at = 0
  for (let line = 0; ; ) {
    const character = text[at]
    if (character === '\n') line = at + 1
    else if (character !== ' ' && character !== '\t') {
      if (at - line > 3 || (at > line && text.slice(line, at).includes('\t'))) return undefined
      break
    }
    at++
  }
  const mark = text[at]
  if (mark !== '`' && mark !== '~') return undefined
  let length = 1
  while (text[at + length] === mark) length++
  const newline = text.indexOf('\n', at + length)
  if (length < 3 || newline < 0) return undefined
  // text in backticks is inline code
  if (mark === '`' && text.slice(at + length, newline).includes('`')) return undefined
  return { mark, length, end: newline + 1 }
}

/** Whether a line closes a fence. */
function endsFence(line: string, { mark, length }: Pick<FenceOpening, 'mark' | 'length'>): boolean {
  let at = 0
  while (line[at] === ' ') at++
  if (at > 3) return false
  let marks = 0
  while (line[at + marks] === mark) marks++
  return marks >= length && /^[ \t]*$/.test(line.slice(at + marks))
}

/** Returns the fence at the start of `source`, if it isn't closed yet. */
function openFence(source: string): OpenFence | undefined {
  const opening = fenceOpening(source)
  if (!opening) return undefined
  const rest = source.slice(opening.end)
  if (rest.split('\n').some(line => endsFence(line, opening))) return undefined
  const { mark, length } = opening
  return { mark, length, searched: source.lastIndexOf('\n') + 1 }
}

/**
 * The end of a fence at the start of a long text, found without parsing it; `open` if there is no closing line yet, not
 * even an incomplete one. `undefined` if the text starts with anything else.
 */
function longFence(text: string): number | 'open' | undefined {
  const opening = fenceOpening(text)
  if (!opening) return undefined
  for (let at = opening.end; at < text.length; ) {
    const newline = text.indexOf('\n', at)
    const end = newline < 0 ? text.length : newline
    // most lines don't start like a closing fence
    if (text.slice(at, at + 4).includes(opening.mark) && endsFence(text.slice(at, end), opening))
      return newline < 0 ? undefined : newline + 1
    at = end + 1
  }
  return 'open'
}

/** The opening line of the fence that contains the end of a text; empty if none does. */
function fenceAt(text: string): string {
  let opening: { mark: string; length: number; line: string } | undefined
  for (const line of text.split('\n')) {
    const [, marks, info = ''] =
      /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,32}|~{3,32})(.*)$/.exec(line) ?? []
    if (marks === undefined) continue
    const mark = marks[0]!
    if (!opening) {
      if (mark === '~' || !info.includes('`')) opening = { mark, length: marks.length, line: marks + info }
    } else if (mark === opening.mark && marks.length >= opening.length && info.trim() === '')
      opening = undefined
  }
  return opening?.line ?? ''
}

import { type Signal, signal } from '@preact/signals'
import { growingBlocks } from '../../conversation/entries/growing-blocks.ts'
import type { Entry, EntryId } from '../../conversation/state.ts'
import { MarkdownDocument } from '../markdown/document.ts'

/** An entry of the conversation in the view: its data, and the Markdown documents of its growing texts. */
export class EntrySlot {
  readonly id: EntryId
  index: number
  readonly entry: Signal<Entry>
  /** whether the user has expanded the entry, such as a thought, a tool call or a long prompt */
  readonly open: Signal<boolean>
  /** Increases when a text grew in place. */
  readonly grown = signal(0)
  /** by content block; only for texts that are rendered as Markdown */
  readonly documents: Array<MarkdownDocument | undefined> = []
  /** of a tool call: whether other tool calls are part of its work */
  readonly isParent: Signal<boolean> = signal(false)
  /** of a tool call: the permission requests about it, oldest first */
  readonly permissions: Signal<readonly EntrySlot[]> = signal([])
  /** of a permission request: its tool call, whose line shows the answer */
  call: EntrySlot | undefined
  /** Called when the number of Markdown blocks may have changed without a patch. */
  onReflow: ((slot: EntrySlot) => void) | undefined

  constructor(index: number, entry: Entry, open: Signal<boolean>) {
    this.id = entry.id
    this.index = index
    this.entry = signal(entry)
    this.open = open
    this.#readTexts(entry, undefined)
  }

  /** Identifies the work that the entry stands for: a subagent's session, or a tool call. */
  get work(): string | undefined {
    const entry = this.entry.peek()
    if (entry.kind === 'subagent') return entry.sessionId
    return entry.kind === 'tool_call' ? workOfCall(entry.within, entry.toolCallId) : undefined
  }

  /** Identifies the work that the entry is part of: a subagent's, which an agent may report as a tool call. */
  get within(): string | undefined {
    const entry = (this.call ?? this).entry.peek()
    return entry.kind === 'tool_call' && entry.parentId !== undefined
      ? workOfCall(entry.within, entry.parentId)
      : entry.within
  }

  /** Replaces the entry's data. A text that only grew keeps its blocks. */
  replace(entry: Entry): void {
    const before = this.entry.peek()
    this.#readTexts(entry, before)
    this.entry.value = withKnownChanges(entry, before)
  }

  appendText(block: number, text: string): void {
    const content = growingBlocks(this.entry.peek())[block]
    if (content?.type !== 'text') return
    content.text += text
    this.documents[block]?.append(text)
    this.grown.value++
  }

  /** Processes text that was appended to the documents. */
  flush(): void {
    for (const document of this.documents) document?.flush()
  }

  dispose(): void {
    for (const document of this.documents) document?.dispose()
  }

  #readTexts(entry: Entry, before: Entry | undefined): void {
    if (!rendersMarkdown(entry)) return
    const blocks = growingBlocks(entry)
    const old = before ? growingBlocks(before) : []
    for (let i = blocks.length; i < this.documents.length; i++) this.documents[i]?.dispose()
    this.documents.length = blocks.length
    for (const [i, block] of blocks.entries()) {
      if (block.type !== 'text') {
        this.documents[i]?.dispose()
        this.documents[i] = undefined
        continue
      }
      const was = old[i]
      const document = this.documents[i]
      if (document && was?.type === 'text' && block.text.startsWith(was.text)) {
        if (block.text.length > was.text.length) this.grown.value++
        document.append(block.text.slice(was.text.length))
        document.flush()
        continue
      }
      document?.dispose()
      const fresh = new MarkdownDocument()
      fresh.onFlushed = () => this.onReflow?.(this)
      fresh.append(block.text)
      fresh.flush()
      this.documents[i] = fresh
    }
  }
}

function workOfCall(within: string | undefined, toolCallId: string): string {
  return JSON.stringify([within, toolCallId])
}

/** Returns the entry with the old objects of unchanged diffs in a tool call, so that known diffs aren't computed again. */
function withKnownChanges(entry: Entry, before: Entry): Entry {
  if (entry.kind !== 'tool_call' || before.kind !== 'tool_call') return entry
  const content = entry.content.map((item, i) => {
    const was = before.content[i]
    if (item.type !== 'diff' || was?.type !== 'diff' || item === was) return item
    if (item.patch?.text !== was.patch?.text) return item
    const changes = item.changes.map((change, at) => {
      const known = was.changes[at]
      const isSame =
        known?.path === change.path &&
        known.oldPath === change.oldPath &&
        known.operation === change.operation &&
        known.oldText === change.oldText &&
        known.newText === change.newText
      return isSame ? known : change
    })
    return { ...item, changes }
  })
  return { ...entry, content }
}

/** Whether an entry's text is rendered as Markdown; a user's text is shown as written. */
function rendersMarkdown(entry: Entry): boolean {
  return entry.kind !== 'message' || entry.role !== 'user'
}

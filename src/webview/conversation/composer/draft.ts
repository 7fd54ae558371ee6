import { signal } from '@preact/signals'
import type { Attachment } from '../../../views/bridge/conversation.ts'
import { vscodeApi } from '../../host/vscode-api.ts'

interface KeptDraft {
  key: string
  text: string
  attachments: Attachment[]
}

/** A draft is saved at the latest this long after it was changed, in milliseconds: also while somebody types on. */
const delay = 200
/** Attachments beyond this are not kept through a reload: the state is copied at every change. Characters of JSON. */
const mostKept = 200_000

/**
 * What stands in the composer, kept by conversation so that neither a reload nor a crash loses it: the text in the host,
 * what is attached in the webview's own state.
 */
export class Draft {
  readonly text = signal('')
  readonly attachments = signal<readonly Attachment[]>([])
  readonly #save: (key: string, text: string) => void
  /** what an earlier page of this view left */
  readonly #kept = keptDraft()
  /** empty until the first snapshot */
  #key = ''
  #timer: ReturnType<typeof setTimeout> | undefined
  #others = new Map<string, readonly Attachment[]>()
  /** A prompt is on its way: its text stays until the host took it, also when that begins a new conversation. */
  #held = false

  constructor(save: (key: string, text: string) => void) {
    this.#save = save
    window.addEventListener('pagehide', () => this.flush())
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'hidden') this.flush()
    })
  }

  /**
   * A snapshot came: of another conversation, of this one anew, or of the one that has begun meanwhile under the key
   * `before`, to which what stands here goes along.
   */
  show(key: string, saved: string, before?: string): void {
    if (key === this.#key) return
    if (before !== undefined && before === this.#key) {
      this.#goAlong(key)
      return
    }
    const first = this.#key === ''
    if (!first) {
      this.flush()
      this.#others.set(this.#key, this.attachments.peek())
    }
    this.#key = key
    if (this.#held) return
    const kept = first ? this.#kept : undefined
    const mine = kept?.key === key ? kept : undefined
    // what came before it was known which conversation this is: typed, or attached by the command that opened the view
    const typed = first ? this.text.peek() : ''
    const early = first ? this.attachments.peek() : []
    // not the text of the webview's own state: VS Code may have kept an older one of it
    this.text.value = typed || saved
    this.attachments.value = [...(mine?.attachments ?? this.#others.get(key) ?? []), ...early]
    if (typed) this.#changed()
    else this.#keep()
  }

  #goAlong(key: string): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#save(this.#key, '')
    this.#key = key
    this.#changed()
  }

  setText(text: string): void {
    if (text === this.text.peek()) return
    this.text.value = text
    this.#changed()
  }

  attach(attachment: Attachment): void {
    const others = this.attachments.peek().filter(one => one.id !== attachment.id)
    this.attachments.value = [...others, attachment]
    this.#changed()
  }

  detach(id: string): void {
    this.attachments.value = this.attachments.peek().filter(one => one.id !== id)
    this.#changed()
  }

  hold(): void {
    this.#held = true
  }

  release(sent: boolean): void {
    this.#held = false
    if (sent) {
      this.text.value = ''
      this.attachments.value = []
    }
    this.#changed()
    this.flush()
  }

  /** Saves now what waits to be saved. */
  flush(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#save(this.#key, this.text.peek())
  }

  #changed(): void {
    if (this.#key === '') return
    this.#keep()
    this.#timer ??= setTimeout(() => this.flush(), delay)
  }

  /** Also without a draft: a tab is brought back by the key of its conversation. */
  #keep(): void {
    const attachments = [...this.attachments.peek()]
    const small = JSON.stringify(attachments).length <= mostKept
    const state: KeptDraft = { key: this.#key, text: this.text.peek(), attachments: small ? attachments : [] }
    vscodeApi().setState(state)
  }
}

function keptDraft(): KeptDraft | undefined {
  const state = vscodeApi().getState()
  if (typeof state !== 'object' || state === null || !('key' in state) || !('text' in state)) return undefined
  const { key, text } = state
  const attachments = 'attachments' in state && Array.isArray(state.attachments) ? state.attachments : []
  return typeof key === 'string' && typeof text === 'string'
    ? { key, text, attachments: attachments as Attachment[] }
    : undefined
}

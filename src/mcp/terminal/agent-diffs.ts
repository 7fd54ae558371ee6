import { isAbsolute } from 'node:path'
import { KeyedQueue } from '../../common/async.ts'
import type { Disposable } from '../../common/disposable.ts'
import { ToolError } from '../server/tool-error.ts'
import type { OpenDiff, ProposedFile, TerminalEditor } from './terminal-editor.ts'

/** Maximum number of open diffs of one agent. */
const MAX_DIFFS = 16

/** The open diffs of one agent, by the agent's names for them. */
export class AgentDiffs implements Disposable {
  readonly #editor: TerminalEditor
  readonly #open = new Map<string, OpenDiff>()
  /** Opens and closes diffs in the agent's order. */
  readonly #queue = new KeyedQueue()
  #count = 0
  #isOver = false

  constructor(editor: TerminalEditor) {
    this.#editor = editor
  }

  /** Opens a diff, and closes the one with that name. `answered`: the user answered, and not the agent, in the terminal. */
  async open(
    name: string,
    file: ProposedFile,
    answered: (text: string | undefined) => void = () => {},
  ): Promise<OpenDiff> {
    if (!isAbsolute(file.path) || !isAbsolute(file.oldPath)) throw new ToolError('The path must be absolute.')
    return this.#queue.run(name, () => this.#show(name, file, answered))
  }

  async #show(
    name: string,
    file: ProposedFile,
    answered: (text: string | undefined) => void,
  ): Promise<OpenDiff> {
    await this.#close(name)
    if (this.#isOver) throw new ToolError('The agent has gone.')
    if (this.#count >= MAX_DIFFS) throw new ToolError('Too many diffs are open.')
    this.#count += 1
    try {
      const diff = await this.#editor.openDiff(file)
      this.#open.set(name, diff)
      void diff.outcome.then(text => {
        this.#count -= 1
        if (this.#open.get(name) !== diff) return
        this.#open.delete(name)
        answered(text)
      })
      return diff
    } catch (error) {
      this.#count -= 1
      throw error
    }
  }

  /** Closes the diff with this name, also one that is still opening. Resolves to the text that the diff showed, if any. */
  close(name: string): Promise<string | undefined> {
    return this.#queue.run(name, () => this.#close(name))
  }

  async #close(name: string): Promise<string | undefined> {
    const diff = this.#open.get(name)
    this.#open.delete(name)
    return diff?.close()
  }

  /** Resolves with how many there were. */
  async closeAll(): Promise<number> {
    const names = new Set([...this.#open.keys(), ...this.#queue.keys])
    const texts = await Promise.all([...names].map(name => this.close(name)))
    return texts.filter(text => text !== undefined).length
  }

  /** The agent has gone, and nobody would write what the user accepts. */
  dispose(): void {
    this.#isOver = true
    void this.closeAll()
  }
}

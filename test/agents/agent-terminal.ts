import { createRequire } from 'node:module'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import * as xterm from '@xterm/headless'
import { waitFor } from '../host/wait-for.ts'
import { installAgent } from './install.ts'

/** What of node-pty is used, which Gemini CLI brings along. */
interface Pty {
  spawn(
    file: string,
    args: string[],
    options: { cwd: string; env: Record<string, string>; cols: number; rows: number },
  ): { write(data: string): void; kill(): void; onData(listener: (data: string) => void): void }
}

const SIZE = { cols: 120, rows: 40 }

/** What an agent shows while a turn is running. A prompt that is sent then has to wait, or gets lost. */
const BUSY = /esc to (cancel|interrupt)/

const END_KEY = '\x1b[F'

/** An agent in a terminal, as in VS Code's. */
export class AgentTerminal {
  readonly #process: ReturnType<Pty['spawn']>
  readonly #terminal = new xterm.Terminal({ ...SIZE, allowProposedApi: true })
  #output = ''

  private constructor(process: ReturnType<Pty['spawn']>) {
    this.#process = process
    process.onData(data => {
      this.#output += data
      this.#terminal.write(data)
    })
  }

  static async start(
    [command, ...args]: [string, ...string[]],
    cwd: string,
    env: Readonly<Record<string, unknown>>,
  ): Promise<AgentTerminal> {
    const folder = await installAgent('gemini')
    const require = createRequire(path.join(folder, 'package.json'))
    const pty: Pty = require(path.join(folder, 'node_modules', '@lydell', 'node-pty'))
    return new AgentTerminal(
      pty.spawn(command, args, {
        ...{ cwd, ...SIZE },
        env: {
          ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
          PATH: process.env.PATH ?? '',
          LANG: 'C.UTF-8',
          TERM: 'xterm-256color',
          TERM_PROGRAM: 'vscode',
        },
      }),
    )
  }

  /** Whether it has written these words, which it may have placed without spaces. */
  hasShown(words: string): boolean {
    return withoutSpaces(stripVTControlCharacters(this.#output)).includes(withoutSpaces(words))
  }

  /** Sends a prompt, once the turn before has ended and the prompt is in the agent's input. */
  async prompt(text: string): Promise<void> {
    await waitFor('the end of the turn', () => !BUSY.test(this.#screen()))
    // an Enter may send what was in the input before the latest change that is on the screen
    let typed = ''
    for (const words of [text, ' now']) {
      typed += words
      this.#process.write(words)
      await waitFor('the prompt in the input', () =>
        withoutSpaces(this.#screen()).includes(withoutSpaces(typed)),
      )
    }
    // Gemini CLI inserts a line break for an Enter within 30 ms of a character, but not of another key
    this.#process.write(END_KEY)
    this.#process.write('\r')
  }

  /** What is on the screen now. */
  #screen(): string {
    const { active } = this.#terminal.buffer
    const lines = Array.from({ length: SIZE.rows }, (_, row) => active.getLine(active.baseY + row))
    return lines.map(line => line?.translateToString(true) ?? '').join('\n')
  }

  kill(): void {
    this.#process.kill()
    this.#terminal.dispose()
  }
}

function withoutSpaces(text: string): string {
  return text.replaceAll(/\s/g, '')
}

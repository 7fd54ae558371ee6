import { createRequire } from 'node:module'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
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

/** An agent in a terminal, as in VS Code's. */
export class AgentTerminal {
  readonly #process: ReturnType<Pty['spawn']>
  #output = ''

  private constructor(process: ReturnType<Pty['spawn']>) {
    this.#process = process
    process.onData(data => {
      this.#output += data
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
        ...{ cwd, cols: 120, rows: 40 },
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
  hasShown(words: string, from = 0): boolean {
    return withoutSpaces(stripVTControlCharacters(this.#output.slice(from))).includes(withoutSpaces(words))
  }

  /** Writes a key. */
  press(key: string): void {
    this.#process.write(key)
  }

  /** Sends a prompt, once it's in the agent's input. */
  async prompt(text: string): Promise<void> {
    const before = this.#output.length
    this.#process.write(text)
    await waitFor('the prompt in the input', () => this.hasShown(text, before))
    this.#process.write('\r')
  }

  kill(): void {
    this.#process.kill()
  }
}

function withoutSpaces(text: string): string {
  return text.replaceAll(/\s/g, '')
}

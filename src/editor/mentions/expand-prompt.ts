import { stat } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { messageOf } from '../../common/errors.ts'
import { shortened, visible } from '../../common/visible.ts'
import type { Attachment, ExpandedPrompt, OutsideAnswer } from '../../conversation/attachment.ts'
import { PathRules } from '../path-rules.ts'
import {
  inputsOf,
  type PromptInput,
  parsePromptFile,
  referencesOf,
  typedInputs,
  variablesOf,
  withValues,
} from './prompt-file-format.ts'
import type { PromptCall } from './prompt-files.ts'
import { isInRoots } from './typed-path.ts'

/** Maximum size of a prompt file; a larger file isn't sent. Bytes. */
const MAX_PROMPT_FILE_BYTES = 256 * 1024
/** Maximum length of the text with all values and all prompt files; a longer text isn't sent. Characters. */
const MAX_TEXT = 1024 * 1024
/** Maximum length of a prompt's label with its values, and of one value in the label. Characters. */
const MAX_LABEL = 500
const MAX_SHOWN = 60
/** Maximum number of prompt files in one prompt. */
const MAX_PROMPT_FILES = 30
/** Maximum number of other files that prompt files refer to. */
const MAX_FILES = 50
/** Maximum number of questions about files outside of the folders. */
const MAX_QUESTIONS = 10

/** The functions of the editor, the disk and the user that expanding a prompt file needs. */
export interface ExpansionSources {
  /** The folders of the session and of the workspace. Paths that start with a slash begin in the first one. */
  roots: readonly string[]
  /** The current values of variables; a variable without a value is absent. */
  values: ReadonlyMap<string, string>
  /** Resolves to the text of a file, including unsaved changes; `undefined` if it isn't text. Rejects if the file can't be read. */
  readText(file: string): Promise<string | undefined>
  /** Asks about a file outside of the folders, unless the user was asked about this file before. */
  askOutside(file: string): Promise<OutsideAnswer>
  /** Allows a prompt to include the content of a file that one of the user's own prompt files refers to. */
  allow(file: string): Promise<void>
  /** Asks the user for values. Resolves to `undefined` if the user cancels. */
  ask(inputs: readonly PromptInput[], command: string): Promise<Map<string, string> | undefined>
  attachmentFor(file: string, isFolder: boolean): Attachment
  /** Resolves to the path of a workspace file in the session's worktree. */
  inWorktree(file: string): Promise<string>
}

/** Thrown when the user canceled a question. */
class Canceled extends Error {}

interface ReadPrompt {
  path: string
  body: string
}

/** The prompt files and other files of one expansion. */
class Expansion {
  readonly prompts: ReadPrompt[] = []
  /** the other files, by path */
  readonly files = new Map<string, Attachment>()
  readonly #call: PromptCall
  readonly #sources: ExpansionSources
  readonly #rules = new PathRules()
  readonly #done = new Set<string>()
  #questions = 0

  constructor(call: PromptCall, sources: ExpansionSources) {
    this.#call = call
    this.#sources = sources
  }

  /** Reads a prompt file and the files that it refers to. `above`: the files that led to this one. */
  async read(file: string, above: readonly string[]): Promise<void> {
    const chain = [...above, file]
    const key = this.#key(file)
    if (above.some(one => this.#key(one) === key)) {
      const names = chain.map(nameIn).join(' → ')
      throw new Error(l10n.t('Prompt files refer to each other: {0}. Remove one of the links.', names))
    }
    if (this.#done.has(key)) return
    this.#done.add(key)
    if (this.#done.size > MAX_PROMPT_FILES)
      throw new Error(l10n.t('{0} refers to more than {1} prompt files.', this.#call.typed, MAX_PROMPT_FILES))
    const { body } = parsePromptFile(await this.#readText(file))
    this.prompts.push({ path: file, body })
    for (const reference of referencesOf(body)) await this.#follow(reference, file, chain)
  }

  async #readText(file: string): Promise<string> {
    const name = nameIn(file)
    const info = await stat(file).catch((error: unknown) => {
      throw new Error(l10n.t("Can't read {0}: {1}", name, messageOf(error)))
    })
    const tooLarge = () => new Error(l10n.t('{0} is larger than {1} KB.', name, MAX_PROMPT_FILE_BYTES / 1024))
    if (info.size > MAX_PROMPT_FILE_BYTES) throw tooLarge()
    const text = await this.#sources.readText(file)
    if (text === undefined) throw new Error(l10n.t("{0} isn't a text file in UTF-8 or UTF-16.", name))
    if (text.length > MAX_PROMPT_FILE_BYTES) throw tooLarge()
    return text
  }

  async #follow(reference: string, from: string, chain: readonly string[]): Promise<void> {
    const isPrompt = reference.toLowerCase().endsWith('.prompt.md')
    const found = await this.#find(reference, from)
    if (!found) {
      if (!isPrompt) return
      throw new Error(l10n.t("{0} refers to {1}, which doesn't exist.", nameIn(from), visible(reference)))
    }
    const { isFolder } = found
    // a prompt file is read where it was found, any other file in the session's worktree
    const file = isPrompt ? found.file : await this.#ofSession(found.file, isFolder)
    const key = this.#key(file)
    if (this.files.has(key)) return
    const answer = isFolder ? 'path' : await this.mayRead(file, from)
    if (answer === 'cancel') throw new Canceled()
    if (isPrompt && answer === 'content') return this.read(file, chain)
    if (this.files.size >= MAX_FILES)
      throw new Error(l10n.t('{0} refers to more than {1} files.', this.#call.typed, MAX_FILES))
    this.files.set(key, this.#sources.attachmentFor(file, isFolder))
  }

  async #ofSession(file: string, isFolder: boolean): Promise<string> {
    const own = await this.#sources.inWorktree(file)
    const info = own === file ? undefined : await stat(own).catch(() => undefined)
    return (isFolder ? info?.isDirectory() : info?.isFile()) ? own : file
  }

  /**
   * Finds the file of a reference, which is relative to the file with the link or to a root. Resolves to `undefined` if it doesn't exist.
   */
  async #find(reference: string, from: string): Promise<{ file: string; isFolder: boolean } | undefined> {
    const relative = reference.replace(/^[/\\]+/, '')
    const isAbsolute = path.isAbsolute(reference)
    const { roots } = this.#sources
    const candidates = [
      ...(isAbsolute ? [] : [path.resolve(path.dirname(from), reference)]),
      ...roots.map(root => path.resolve(root, relative)),
      ...(isAbsolute ? [path.resolve(reference)] : []),
    ]
    for (const file of candidates) {
      // accessing a network share would reveal the user's identity to its server
      if (
        /^[\\/]{2}/.test(file) &&
        ![...roots, from].some(one => path.parse(one).root === path.parse(file).root)
      )
        continue
      const info = await stat(file).catch(() => undefined)
      if (info?.isFile() || info?.isDirectory()) return { file, isFolder: info.isDirectory() }
    }
    return undefined
  }

  /**
   * Resolves to whether a file may be read. A file outside of the folders requires a question, unless it's next to a prompt file of the
   * user that refers to it.
   */
  async mayRead(file: string, from: string): Promise<OutsideAnswer> {
    const { roots, askOutside, allow } = this.#sources
    const { source, within } = this.#call.file.folder
    if (await isInRoots(file, roots)) return 'content'
    const isOwn = async (one: string) => source === 'user' && isInRoots(one, within)
    if ((await isOwn(file)) && (await isOwn(from))) {
      await allow(file)
      return 'content'
    }
    if (++this.#questions > MAX_QUESTIONS)
      throw new Error(
        l10n.t(
          "{0} refers to more than {1} files outside this session's folders.",
          this.#call.typed,
          MAX_QUESTIONS,
        ),
      )
    return askOutside(file)
  }

  #key(file: string): string {
    return this.#rules.key(this.#rules.normalize(file))
  }
}

/**
 * Resolves to the text of a called prompt file with the values of its variables, and the files that it refers to; `undefined` if the user
 * canceled. Rejects with a sentence if something is missing. `text`: the typed text up to the first chip.
 */
export async function expandPrompt(
  call: PromptCall,
  text: string,
  sources: ExpansionSources,
): Promise<ExpandedPrompt | undefined> {
  try {
    return await expanded(call, text, sources)
  } catch (error) {
    if (error instanceof Canceled) return undefined
    throw error
  }
}

async function expanded(
  call: PromptCall,
  text: string,
  sources: ExpansionSources,
): Promise<ExpandedPrompt | undefined> {
  const { path: file } = call.file
  const expansion = new Expansion(call, sources)
  // a link may lead elsewhere by now than when the file was listed
  if ((await expansion.mayRead(file, file)) !== 'content') return undefined
  await expansion.read(file, [])
  const whole = joined(expansion.prompts)
  const tooLong = () => new Error(l10n.t('The text of {0} is too long.', call.typed))
  if (whole.length > MAX_TEXT) throw tooLong()
  const needs = neededBy()
  const missing = variablesOf(whole).find(name => Object.hasOwn(needs, name) && !sources.values.has(name))
  if (missing !== undefined) throw new Error(needs[missing])
  const inputs = inputsOf(whole)
  const args = text.slice(call.length)
  const typed = typedInputs(args, inputs)
  const open = inputs.filter(({ name }) => !typed.values.has(name))
  const answers = open.length > 0 ? await sources.ask(open, call.typed) : new Map<string, string>()
  if (!answers) return undefined
  const values = new Map([...typed.values, ...answers])
  const sent = withValues(whole, sources.values, values, MAX_TEXT)
  if (sent === undefined) throw tooLong()
  if (sent.trim() === '') throw new Error(l10n.t('{0} is empty.', nameIn(file)))
  const length = call.length + typed.length
  const given = [...values].map(([name, value]) => ` ${name}=${shown(value)}`).join('')
  const label = shortened(`${call.typed}${given}`, MAX_LABEL).replace(/\p{Surrogate}/gu, '\ufffd')
  return {
    length,
    item: {
      id: crypto.randomUUID(),
      label,
      icon: 'bookmark',
      detail: file,
      content: {
        type: 'resource',
        uri: `parley:prompt/${encodeURIComponent(label)}`,
        mimeType: 'text/markdown',
        text: sent,
        asText: true,
      },
    },
    files: [...expansion.files.values()],
  }
}

/** Returns the name of a file as it's shown to users. */
function nameIn(file: string): string {
  return visible(path.basename(file))
}

/** Returns the text of the first prompt file, followed by the prompt files that it refers to, under their names. */
function joined([first, ...others]: readonly ReadPrompt[]): string {
  return [first?.body, ...others.map(({ path: file, body }) => `${nameIn(file)}:\n\n${body}`)].join('\n\n')
}

/** Returns a value as it's shown on a chip. */
function shown(value: string): string {
  const short = shortened(value.replace(/\s+/g, ' '), MAX_SHOWN)
  return /[\s"']/.test(short) || short === '' ? `"${short.replace(/"/g, "'")}"` : short
}

/** Returns instructions for the user for each variable that may have no value. */
function neededBy(): Readonly<Record<string, string>> {
  const selection = l10n.t('The prompt needs a selection. Select text in an editor, then send it again.')
  const file = l10n.t('The prompt needs a file. Open one in an editor, then send it again.')
  const folder = l10n.t('The prompt needs a folder. Open one, then send it again.')
  return {
    selection,
    selectedText: selection,
    file,
    relativeFile: file,
    fileBasename: file,
    fileBasenameNoExtension: file,
    fileDirname: file,
    fileExtname: file,
    workspaceFolder: folder,
    workspaceFolderBasename: folder,
  }
}

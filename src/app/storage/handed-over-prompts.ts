import { createHash, randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod'
import { draftItems, draftText } from '../../bridge/conversation-messages.ts'
import { validDraft } from '../../common/draft.ts'
import { messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { writeWholeSync } from '../../common/whole-files.ts'
import type { StoredPrompt } from '../../conversation/attachment.ts'

const storedPrompts = z.array(z.object({ id: z.string(), draft: draftText.extend({ items: draftItems }) }))

/**
 * Prompts that a window hands over to the window that continues their session, which may have another workspace. They are on disk
 * until that window has stored them.
 */
export class HandedOverPrompts {
  readonly #folder: string
  readonly #log: Logger

  constructor(folder: string, log: Logger) {
    this.#folder = folder
    this.#log = log
  }

  /** Adds prompts after those that are there already. Returns whether they were stored. */
  add(key: string, prompts: readonly StoredPrompt[]): boolean {
    const file = this.#file(key)
    try {
      const all = [...this.#read(file), ...prompts]
      writeWholeSync(file, JSON.stringify(all))
      return true
    } catch (error) {
      this.#log.warn(`Queued prompts in ${file}: ${messageOf(error)}`)
      return false
    }
  }

  /** Passes the prompts to `store`, if there are any; deletes them once it has returned. */
  take(key: string, store: (prompts: StoredPrompt[]) => void): void {
    const file = this.#file(key)
    try {
      const prompts = this.#read(file)
      if (prompts.length > 0) store(prompts)
      rmSync(file, { force: true })
    } catch (error) {
      this.#log.warn(`Queued prompts in ${file}: ${messageOf(error)}`)
    }
  }

  /** What can't be read may still be what the user wrote. */
  #putAside(file: string, error: unknown): void {
    const aside = `${file}.damaged-${randomUUID().slice(0, 8)}`
    this.#log.warn(`Queued prompts in ${file}: ${messageOf(error)}. They were moved to ${aside}.`)
    renameSync(file, aside)
  }

  /** The name says nothing about the session. */
  #file(key: string): string {
    return path.join(this.#folder, `${createHash('sha256').update(key).digest('hex').slice(0, 32)}.json`)
  }

  /** Throws if the file can't be read for now, since what it contains may be fine. */
  #read(file: string): StoredPrompt[] {
    let json: string
    try {
      json = readFileSync(file, 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
      throw error
    }
    try {
      return storedPrompts.parse(JSON.parse(json)).map(({ id, draft }) => ({ id, draft: validDraft(draft) }))
    } catch (error) {
      this.#putAside(file, error)
      return []
    }
  }
}

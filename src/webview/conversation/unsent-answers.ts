import { pageState, storeState } from '../host/vscode-api.ts'
import type { App } from './context.ts'

/** Maximum number of requests whose answers are stored; the oldest answers are dropped first. */
const MAX_ANSWERS = 20
/** Longer answers are lost when the page is reloaded. UTF-16 units of their JSON. */
const MAX_STORED_LENGTH = 64 * 1024

/**
 * The user's unsent answers by request id: values of a form, or a reason to reject. They survive a reload of the page and showing another
 * conversation.
 */
let known: Map<string, unknown> | undefined

function answers(): Map<string, unknown> {
  known ??= new Map(storedAnswers())
  return known
}

export function unsentAnswer(requestId: string): unknown {
  return answers().get(requestId)
}

export function keepUnsentAnswer(requestId: string, answer: unknown): void {
  const all = answers()
  all.delete(requestId)
  all.set(requestId, answer)
  for (const oldest of all.keys()) {
    if (all.size <= MAX_ANSWERS) break
    all.delete(oldest)
  }
  store()
}

/** Drops the unsent answer to a request that was answered. */
export function dropUnsentAnswer(requestId: string): void {
  if (answers().delete(requestId)) store()
}

export function unsentReason(requestId: string): string | undefined {
  const answer = answers().get(requestId)
  return typeof answer === 'string' ? answer : undefined
}

/** Moves the reason that the user began to the composer, because the request was answered without it. */
export function returnReason(requestId: string, composer: App['composer']): void {
  const reason = unsentReason(requestId)
  dropUnsentAnswer(requestId)
  if (reason?.trim()) composer.current?.write([{ type: 'text', text: reason }], true)
}

function store(): void {
  const short = [...answers()].filter(([, answer]) => JSON.stringify(answer).length <= MAX_STORED_LENGTH)
  storeState({ answers: short })
}

function storedAnswers(): Array<[string, unknown]> {
  const stored = pageState().answers
  if (!Array.isArray(stored)) return []
  const isPair = (one: unknown): one is [string, unknown] => Array.isArray(one) && typeof one[0] === 'string'
  return stored.filter(isPair).slice(-MAX_ANSWERS)
}

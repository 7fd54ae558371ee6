import type { KeyValueStore } from '../common/key-value-store.ts'
import { ContextKey } from './ids.ts'

/** The steps of the walkthrough by the context keys that complete them. */
const STEPS = {
  agent: ContextKey.hasAgent,
  signIn: ContextKey.hasSignedIn,
  prompt: ContextKey.hasAnswer,
  permission: ContextKey.hasAnsweredPermission,
  review: ContextKey.hasReviewed,
  history: ContextKey.hasSeenHistory,
} as const

export type FirstStep = keyof typeof STEPS

export const FIRST_STEPS = Object.entries(STEPS).map(([step, key]) => ({ step: step as FirstStep, key }))

/** The key, in the values of all workspaces, for the steps that the user has done. */
const DONE = 'parley.firstSteps'

type SetContext = (key: string, value: unknown) => unknown

/** Sets the context keys of all steps that the user has done, including in other windows or before a reload. */
export function restoreDoneSteps(store: Pick<KeyValueStore, 'get'>, setContext: SetContext): void {
  const done = doneSteps(store)
  for (const { step, key } of FIRST_STEPS) if (done.includes(step)) setContext(key, true)
}

export function markDone(store: KeyValueStore, setContext: SetContext, step: FirstStep): void {
  const done = doneSteps(store)
  if (done.includes(step)) return
  store.set(DONE, [...done, step])
  setContext(STEPS[step], true)
}

function doneSteps(store: Pick<KeyValueStore, 'get'>): readonly unknown[] {
  const done = store.get<unknown>(DONE)
  return Array.isArray(done) ? done : []
}

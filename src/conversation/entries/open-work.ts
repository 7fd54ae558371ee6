import { stopPlans } from '../reduce-head.ts'
import { type Background, endThought, type Step } from '../step.ts'
import { allowedToolCalls, endUrlWaits } from './requests.ts'
import { closeToolCalls } from './tool-call.ts'

/** Closes thoughts, tool calls and plan steps that no update will close. The owner of the requests withdraws them. */
export function closeOpen(step: Step, cutShort: boolean, background?: Background): void {
  endThought(step)
  stopPlans(step)
  const hasOpen = step.state.memory.openTools.size > 0
  if (hasOpen) closeToolCalls(step, cutShort, cutShort ? new Set() : allowedToolCalls(step), background)
  endUrlWaits(step)
}

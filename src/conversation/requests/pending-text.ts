import type { Translate } from './elicitation.ts'

/** The state of a session with a pending request, wherever states are shown. */
export function needsAnswerText(t: Translate): string {
  return t('Needs your answer')
}

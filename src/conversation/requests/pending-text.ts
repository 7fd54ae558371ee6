import type { Translate } from './elicitation.ts'

/** Returns the text for a session with a pending request, wherever states of sessions are shown. */
export function needsAnswerText(t: Translate): string {
  return t('Needs your answer')
}

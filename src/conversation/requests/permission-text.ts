import type { PermissionOption } from '../../acp/model.ts'
import { visibleProse } from '../../common/visible.ts'
import type { Translate } from './elicitation.ts'

/** Returns the label of an option: its name with hidden characters visible, or, without a name, the meaning of its kind. */
export function optionName({ name, kind }: PermissionOption, t: Translate): string {
  return visibleProse(name.trim()) || kindText(kind, t)
}

/** Returns the real effect of an option, if the option's name doesn't express it or expresses another effect. */
export function optionHint(option: PermissionOption, t: Translate): string | undefined {
  const name = option.name.trim()
  return name === '' || saysKind(name, option.kind) ? undefined : kindText(option.kind, t)
}

/** Returns the outcome of a request that was answered with an option of this kind. */
export function outcomeText(kind: PermissionOption['kind'], t: Translate): string {
  switch (kind) {
    case 'allow_once':
      return t('Allowed once')
    case 'allow_always':
      return t('Always allowed')
    case 'reject_once':
      return t('Rejected')
    case 'reject_always':
      return t('Always rejected')
    default:
      return t('Answered')
  }
}

/** Returns the outcome as it appears after the title of a tool call: "Edit notes.md · allowed once". */
export function outcomeAside(kind: PermissionOption['kind'], t: Translate): string {
  switch (kind) {
    case 'allow_once':
      return t('allowed once')
    case 'allow_always':
      return t('always allowed')
    case 'reject_once':
      return t('rejected')
    case 'reject_always':
      return t('always rejected')
    default:
      return t('answered')
  }
}

/** Returns the effect of options of this kind. */
export function kindText(kind: PermissionOption['kind'], t: Translate): string {
  switch (kind) {
    case 'allow_once':
      return t('Allow once')
    case 'allow_always':
      return t('Always allow')
    case 'reject_once':
      return t('Reject')
    case 'reject_always':
      return t('Always reject')
    default:
      return visibleProse(kind) || t('Other answer')
  }
}

const ALLOWS =
  /\b(?:accept|agree|allow|apply|approve|confirm|continue|enable|grant|ok|okay|permit|proceed|run|trust|yes)\b/i
const REJECTS =
  /\b(?:abort|block|cancel|decline|den(?:y|ied|ial)|disallow|do not|don['’]t|forbid|never|no|none|not|nothing|refus(?:e|al)|reject(?:ion)?|skip|stop)\b/gi
/** Words that change the meaning of an answer that begins with "allow". */
const LIMITS =
  /\b(?:but|discard|except|exit|ignore|instead|keep|later|leave|only if|quit|revert|undo|unless|without)\b/i
/** Answers that begin like "no" but mean "yes". */
const AGREES =
  /\b(?:no|not an?|without) (?:doubt|issues?|limits?|objections?|problem|questions?|restrictions?|worries)\b|\bwhy not\b/i
const LASTS =
  /\b(?:again|always|every time|forever|freely|from now on|future|never|permanently|remember|session)\b/i
/** Words that may refer to the whole of this request, or to all that follow. */
const MAY_LAST =
  /\b(?:all|any(?:thing|time)?|day|every(?:thing)?|folder|hours?|project|repository|similar|today|until|whole|workspace)\b/i
const ONCE = /\b(?:just|once|one|single|this time)\b/i
const DO_NOT_ASK = /\b(?:do not|don['’]t|never) ask\b/gi

/** Whether an English name expresses the meaning of its kind. Returns false for names in other languages or without known words. */
function saysKind(name: string, kind: PermissionOption['kind']): boolean {
  const rest = name.replace(DO_NOT_ASK, '')
  const lasts = LASTS.test(name) && !ONCE.test(name)
  const mayLast = LASTS.test(name) || MAY_LAST.test(name) || rest !== name
  switch (kind) {
    case 'allow_once':
      return allows(rest) && !mayLast
    case 'allow_always':
      return allows(rest) && lasts
    case 'reject_once':
      return rejects(rest) && !mayLast
    case 'reject_always':
      return rejects(rest) && lasts
    default:
      return false
  }
}

function allows(name: string): boolean {
  return ALLOWS.test(name) && name.search(REJECTS) < 0 && !LIMITS.test(name)
}

/** Whether a name expresses a rejection. Two rejecting words may cancel each other: "Don't stop". */
function rejects(name: string): boolean {
  const words = name.match(REJECTS)?.length ?? 0
  const first = ALLOWS.exec(name)
  return words === 1 && !AGREES.test(name) && first?.index !== name.search(/\w/)
}

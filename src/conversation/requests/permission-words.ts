import type { PermissionOption } from '../../acp/model.ts'
import { visibleWords } from '../../common/visible.ts'
import type { Translate } from './elicitation.ts'

/** The label of an option: its name with hidden characters visible, or the meaning of its kind if it has none. */
export function optionName({ name, kind }: PermissionOption, t: Translate): string {
  return visibleWords(name.trim()) || kindWords(kind, t)
}

/** What an option really does, where its name doesn't say so, or says something else. */
export function optionHint(option: PermissionOption, t: Translate): string | undefined {
  const name = option.name.trim()
  return name === '' || saysKind(name, option.kind) ? undefined : kindWords(option.kind, t)
}

/** The outcome of a request that was answered with an option of this kind. */
export function outcomeWords(kind: PermissionOption['kind'], t: Translate): string {
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

/** What an option of this kind does. */
export function kindWords(kind: PermissionOption['kind'], t: Translate): string {
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
      return visibleWords(kind) || t('Other answer')
  }
}

const ALLOWS =
  /\b(?:accept|agree|allow|apply|approve|confirm|continue|enable|grant|ok|okay|permit|proceed|run|trust|yes)\b/i
const REJECTS =
  /\b(?:abort|block|cancel|decline|deny|disallow|do not|don['’]t|forbid|never|no|not|refuse|reject|skip|stop)\b/i
const LASTS =
  /\b(?:again|all|always|any|every|forever|freely|future|from now on|never|permanently|remember|session)\b/i
const DO_NOT_ASK = /\b(?:do not|don['’]t) ask\b/gi

/** Whether an English name says what its kind means. Names in other languages or without known words never do. */
function saysKind(name: string, kind: PermissionOption['kind']): boolean {
  const lasts = LASTS.test(name)
  const rest = name.replace(DO_NOT_ASK, '')
  switch (kind) {
    case 'allow_once':
      return ALLOWS.test(rest) && !REJECTS.test(rest) && !lasts
    case 'allow_always':
      return ALLOWS.test(rest) && !REJECTS.test(rest) && lasts
    case 'reject_once':
      return REJECTS.test(rest) && !/^\W*(?:yes|allow|approve)\b/i.test(rest) && !lasts
    case 'reject_always':
      return REJECTS.test(rest) && !/^\W*(?:yes|allow|approve)\b/i.test(rest) && lasts
    default:
      return false
  }
}

import type { Attachment, ExpandedPrompt } from '../../../bridge/conversation.ts'
import { validDraft, wordsFor } from '../../../common/draft.ts'
import { messageOf } from '../../../common/errors.ts'
import { t } from '../../l10n.ts'
import type { App } from '../context.ts'
import type { Draft, WrittenDraft } from './draft.ts'

/** Represents a chip in the text that is sent to the host. */
const CHIP = '\ufffc'
/** Maximum length of the text after a command that may contain values of its inputs. Characters. */
const MAX_CALL = 100_000

/**
 * Replaces the call of a prompt file in the draft with the file's text. Resolves to whether the draft can be sent: false if the
 * user canceled a question, or if something is missing, which is reported to `onFail`. The draft is unchanged then.
 */
export async function expandPrompt(
  draft: Draft,
  { store, host }: Pick<App, 'store' | 'host'>,
  onFail: (sentence: string) => void,
): Promise<boolean> {
  const before = draft.content.peek()
  const first = before.chips[0]?.from
  const text = first === undefined ? before.text : `${before.text.slice(0, first)}${CHIP}`
  try {
    const key = store.head.peek()?.key ?? ''
    const expanded = await host.request('composer/expand', { key, text: text.slice(0, MAX_CALL) })
    if (expanded === 'canceled') return false
    const now = draft.content.peek()
    if (now.text !== before.text || now.items.length !== before.items.length) {
      onFail(t("You changed the prompt while its prompt file was read, so it wasn't sent."))
      return false
    }
    if (expanded !== 'none') draft.put(withPrompt(now, expanded))
    return true
  } catch (error) {
    onFail(messageOf(error))
    return false
  }
}

function withPrompt(
  { text, chips, items }: WrittenDraft,
  { length, item, files }: ExpandedPrompt,
): WrittenDraft {
  const words = wordsFor(item.label)
  const by = words.length - length
  return validDraft({
    text: `${words}${text.slice(length)}`,
    chips: [
      { from: 0, to: words.length, id: item.id },
      ...chips.map(({ from, to, id }) => ({ from: from + by, to: to + by, id })),
    ],
    items: [...items, item, ...files.filter(file => !items.some(one => isSame(one, file)))],
  })
}

function isSame({ content: a }: Attachment, { content: b }: Attachment): boolean {
  return a.type === b.type && 'uri' in a && 'uri' in b && a.uri === b.uri
}

import type { ContentBlock } from '../../../acp/model.ts'
import { chipOf } from '../../../common/block-chip.ts'
import type { Attachment } from '../../../views/bridge/conversation.ts'
import { t } from '../../l10n.ts'

/** What stands in a prompt besides text, to be written on with. */
export function itemOf(content: ContentBlock): Attachment {
  const chip = chipOf(content)
  const named = 'uri' in content && content.uri !== undefined
  const label = named ? chip.label : content.type === 'image' ? t('Image') : chip.label
  return { id: crypto.randomUUID(), ...chip, label, content }
}

import type { RefObject } from 'preact'
import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import type { ConversationHead } from '../../../bridge/conversation.ts'
import { t } from '../../l10n.ts'

/** Returns the text of an empty composer: shortened to the available space, and complete for screen readers. */
export function usePlaceholder(
  head: ConversationHead | undefined,
  area: RefObject<HTMLElement | null>,
): { shown: string; whole: string } {
  const [space, setSpace] = useState<Space>()
  useLayoutEffect(() => {
    const text = area.current?.querySelector('.composer-text')
    if (!text) return undefined
    const measure = () => {
      const line = text.querySelector('.cm-line')
      if (!line) return
      const { font, paddingLeft, paddingRight } = getComputedStyle(line)
      const width = line.clientWidth - (Number.parseFloat(paddingLeft) + Number.parseFloat(paddingRight))
      setSpace(known => (known?.width === width && known.font === font ? known : { width, font }))
    }
    const observer = new ResizeObserver(measure)
    observer.observe(text)
    measure()
    return () => observer.disconnect()
  }, [area])
  const measured = useMemo(() => space && widthIn(space.font), [space?.font])
  const words = wordsFor(head)
  return {
    shown: fittingPlaceholder(words, text => !space || !measured || measured(text) <= space.width),
    whole: fittingPlaceholder(words, () => true),
  }
}

interface Space {
  /** in CSS pixels */
  width: number
  font: string
}

interface Words {
  /** Returns the sentence with the agent's name. */
  sentence: (name: string) => string
  name: string
  /** hints that may follow, the longest first */
  hints: readonly string[]
}

/** Returns the longest placeholder that fits: hints are shortened and omitted first, then the end of the name. */
export function fittingPlaceholder(
  { sentence, name, hints }: Words,
  fits: (text: string) => boolean,
): string {
  const whole = sentence(name)
  const found = [...hints.map(hint => `${whole} ${hint}`), whole].find(fits)
  if (found !== undefined) return found
  const letters = Array.from(name)
  for (let length = letters.length - 1; length > 0; length--) {
    const text = sentence(`${letters.slice(0, length).join('').trimEnd()}…`).replace('……', '…')
    if (fits(text)) return text
  }
  return whole
}

/** Returns the agent's suggestion for the next prompt, while the session is idle. */
export function suggestionOf(head: ConversationHead | undefined): string | undefined {
  return head?.activity === 'idle' && head.phase === 'ready' && head.queue.length === 0
    ? head.suggestion
    : undefined
}

function wordsFor(head: ConversationHead | undefined): Words {
  const only = (text: string) => ({ sentence: () => text, name: '', hints: [] })
  if (!head || head.phase === 'ended') return only(t("The agent isn't running"))
  const suggestion = suggestionOf(head)
  if (suggestion !== undefined) {
    const text = suggestion.replace(/\s+/g, ' ')
    return { sentence: name => name, name: text, hints: [t('(Tab to insert)')] }
  }
  const sentence = (name: string) => t('Ask {0}…', name)
  if (head.preparing !== undefined)
    return { sentence, name: head.preparing, hints: [t('Your prompt is sent after the installation.')] }
  if (head.cards.some(({ id }) => id === 'untrusted')) return only(t('Trust this workspace first'))
  if (head.noAgent) {
    if (head.sessions?.length) return only(t('Choose an agent for a new session'))
    return only(head.offers?.length ? t('Choose or install an agent first') : t('Choose an agent first'))
  }
  const chosen = head.agents.find(agent => agent.agentId === head.defaultAgentId)
  const name = head.agent?.name ?? chosen?.name
  const hints = [
    ...(head.commands.length > 0 ? [t('@ for context, / for commands')] : []),
    t('@ for context'),
  ]
  return name ? { sentence, name, hints } : { ...only(t('Ask…')), hints }
}

/** Returns a function that measures the width of a line of text in pixels; `undefined` if the browser can't. */
function widthIn(font: string): ((text: string) => number) | undefined {
  const canvas = typeof OffscreenCanvas === 'undefined' ? undefined : new OffscreenCanvas(1, 1)
  const context = canvas?.getContext('2d')
  if (!context) return undefined
  context.font = font
  return text => Math.ceil(context.measureText(text).width)
}

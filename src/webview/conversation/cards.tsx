import type { Card, CardButton } from '../../bridge/conversation.ts'
import { t } from '../l10n.ts'
import { Button } from '../ui/button.tsx'
import { Choice } from '../ui/choice.tsx'
import { Icon } from '../ui/icon.tsx'
import { PlainCode } from '../ui/scroll-area.tsx'
import { useApp } from './context.ts'

/** A message with its details and actions. */
function CardView({ card }: { card: Card }) {
  const { host } = useApp()
  const run = ({ action }: CardButton) => host.send('conversation/card', { cardId: card.id, action })
  const isLine = card.text === ''
  return (
    <section class={`card card-${card.kind}${isLine ? ' card-line' : ''}`} aria-label={card.title}>
      <div class="card-head">
        <Icon
          name={card.busy ? 'loading' : card.kind}
          class={`card-icon${card.busy ? ' codicon-modifier-spin' : ''}`}
        />
        <div class="card-title" dir="auto">
          {card.title}
        </div>
      </div>
      {!isLine && (
        <div class="card-text" dir="auto">
          {card.text}
        </div>
      )}
      {card.choices && card.choices.length > 0 && (
        <ul class="choices">
          {card.choices.map(choice => (
            <Choice
              key={choice.label}
              icon={<Icon name={choice.icon ?? 'circle-large-outline'} />}
              name={choice.label}
              about={choice.description}
              onClick={() => run(choice)}
            />
          ))}
        </ul>
      )}
      {card.details && card.details.length > 0 && (
        <details class="fold" open={card.unfolded}>
          <summary>{t('Details')}</summary>
          {card.details.map(detail => (
            <div key={detail.label} class="card-detail">
              <div class="card-detail-label">{detail.label}</div>
              <PlainCode text={detail.text} wrap />
            </div>
          ))}
        </details>
      )}
      {card.buttons.length > 0 && (
        <div class="card-buttons">
          {card.buttons.map((button, i) =>
            isLine ? (
              <button key={button.label} type="button" class="link-button" onClick={() => run(button)}>
                {button.label}
              </button>
            ) : (
              <Button
                key={button.label}
                primary={i === 0 && !button.secondary && !card.choices?.length}
                icon={button.icon}
                onClick={() => run(button)}
              >
                {button.label}
              </Button>
            ),
          )}
        </div>
      )}
    </section>
  )
}

export function Cards() {
  const { store } = useApp()
  const cards = store.head.value?.cards ?? []
  return (
    <>
      {cards.map(card => (
        <CardView key={card.id} card={card} />
      ))}
    </>
  )
}

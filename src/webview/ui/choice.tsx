import type { ComponentChildren } from 'preact'

interface ChoiceProps {
  icon: ComponentChildren
  name: string
  /** a sentence about the choice */
  about?: string
  /** the choice's state, on a separate line */
  note?: string
  /** the tooltip */
  hint?: string
  /** content at the right edge */
  end?: ComponentChildren
  tabIndex?: number
  onFocus?: () => void
  onClick: () => void
}

/** One of several actions: an icon, a name and a line of description. Belongs in a list of the class `choices`. */
export function Choice({
  icon,
  name,
  about,
  note,
  hint = note,
  end,
  tabIndex,
  onFocus,
  onClick,
}: ChoiceProps) {
  return (
    <li>
      <button
        type="button"
        class="choice"
        title={[name, about, hint].filter(Boolean).join('\n')}
        tabIndex={tabIndex}
        onFocus={onFocus}
        onClick={onClick}
      >
        {icon}
        <span class="choice-text">
          <span class="choice-name truncate">{name}</span>
          {about && <span class="choice-about">{about}</span>}
          {note && <span class="choice-about">{note}</span>}
        </span>
        {end}
      </button>
    </li>
  )
}

interface Choice {
  value: string
  group?: string
}

/** The favorite and recent values of an option. */
export interface Remembered {
  favorites: readonly string[]
  /** most recent first */
  recent: readonly string[]
}

export interface OptionSection<T extends Choice> {
  /** the heading: one of Parley's sections, or a group that the agent defines; absent if there is only one section */
  section?: 'favorites' | 'recent' | 'all' | { group: string }
  choices: T[]
}

/** Maximum number of choices without separate sections for favorites and recent values. */
const FEW = 8

/** Divides the choices into sections in the order of the list: favorites, recently used, then all, in the agent's order and groups. */
export function sectionsOf<T extends Choice>(
  choices: readonly T[],
  remembered: Remembered | undefined,
): Array<OptionSection<T>> {
  const sections: Array<OptionSection<T>> = []
  const marked = new Set(remembered?.favorites)
  if (choices.length > FEW) {
    const byValue = new Map(choices.map(choice => [choice.value, choice]))
    const favorites = choices.filter(choice => marked.has(choice.value))
    const recent = (remembered?.recent ?? []).flatMap(value =>
      marked.has(value) ? [] : (byValue.get(value) ?? []),
    )
    if (favorites.length > 0) sections.push({ section: 'favorites', choices: favorites })
    if (recent.length > 0) sections.push({ section: 'recent', choices: recent })
  }
  const pinned = sections.length > 0
  for (const choice of choices) {
    const last = sections.at(-1)
    const open = typeof last?.section === 'object' ? last.section.group : undefined
    const fits = last !== undefined && !isOurs(last) && open === choice.group
    if (fits) last.choices.push(choice)
    else if (choice.group !== undefined)
      sections.push({ section: { group: choice.group }, choices: [choice] })
    else sections.push(pinned ? { section: 'all', choices: [choice] } : { choices: [choice] })
  }
  return sections
}

function isOurs({ section }: OptionSection<Choice>): boolean {
  return section === 'favorites' || section === 'recent'
}

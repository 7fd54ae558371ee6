/** Red, green and blue from 0 to 255. */
export type Rgb = readonly [number, number, number]

/** Reads `#rgb`, `#rrggbb`, `#rrggbbaa` over a surface, and `rgb(…)`; `undefined` for anything else. */
export function readColor(text: string, surface: Rgb = [0, 0, 0]): Rgb | undefined {
  const value = text.trim()
  const hex = /^#([0-9a-f]{3,8})$/i.exec(value)?.[1]
  if (hex) {
    const long = hex.length < 6 ? [...hex].map(digit => digit + digit).join('') : hex
    const [r, g, b, a = 255] = (long.match(/../g) ?? []).map(part => Number.parseInt(part, 16))
    if (r === undefined || g === undefined || b === undefined) return undefined
    return over([r, g, b], surface, a / 255)
  }
  const parts = /^rgba?\(([^)]+)\)$/
    .exec(value)?.[1]
    ?.split(/[\s,/]+/)
    .map(Number)
  if (!parts || parts.length < 3 || parts.some(Number.isNaN)) return undefined
  return over([parts[0]!, parts[1]!, parts[2]!], surface, parts[3] ?? 1)
}

function over(color: Rgb, surface: Rgb, share: number): Rgb {
  const mix = (i: 0 | 1 | 2) => Math.round(color[i] * share + surface[i] * (1 - share))
  return [mix(0), mix(1), mix(2)]
}

/** From 1 (the same) to 21 (black on white). https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio */
export function contrast(one: Rgb, other: Rgb): number {
  const [a, b] = [luminance(one), luminance(other)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

function luminance(color: Rgb): number {
  const [r, g, b] = color.map(value => {
    const share = value / 255
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/**
 * The color, moved towards the text's only as far as it takes to be read on all of the surfaces: where the text itself is
 * below that in its theme, nearly as well as the text.
 */
export function readable(color: Rgb, surfaces: readonly Rgb[], text: Rgb, least = 4.5): Rgb {
  const enough = surfaces.map(surface => {
    const reached = contrast(text, surface)
    return reached >= least ? least : reached * 0.75
  })
  for (let share = 0; share < 1; share += 0.1) {
    const mixed = over(text, color, share)
    if (surfaces.every((surface, i) => contrast(mixed, surface) >= enough[i]!)) return mixed
  }
  return text
}

/** What Mermaid calls the colors of its theme, from the colors of VS Code's. */
export function diagramColors() {
  const style = getComputedStyle(document.body)
  const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const surface = opaque(probe, variable(style, '--vscode-editor-background'), '#ffffff')
  const read = (names: readonly string[], fallback: string) => {
    for (const name of names) {
      const value = variable(style, name)
      if (value) return opaque(probe, value, surface)
    }
    return fallback
  }
  const darkMode = luminance(surface) < 0.4
  const text = read(['--vscode-editor-foreground', '--vscode-foreground'], darkMode ? '#cccccc' : '#333333')
  const line = read(['--vscode-descriptionForeground', '--vscode-foreground'], text)
  const border = read(['--vscode-contrastBorder', '--vscode-focusBorder', '--vscode-charts-blue'], line)
  const node = read(['--vscode-editorWidget-background', '--vscode-textCodeBlock-background'], surface)
  const second = read(['--vscode-editor-inactiveSelectionBackground', '--vscode-input-background'], node)
  const chart = (name: string) => read([`--vscode-charts-${name}`], line)
  const charts = ['blue', 'green', 'orange', 'purple', 'red', 'yellow'].map(chart)
  const series = Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => charts[i % charts.length]!).flatMap((color, i) => {
      const soft = mixed(color, surface, darkMode ? 0.45 : 0.3)
      return [
        [`cScale${i}`, soft],
        [`cScaleLabel${i}`, text],
        [`pie${i + 1}`, mixed(color, surface, 0.6)],
        [`git${i}`, color],
        [`gitInv${i}`, surface],
        [`gitBranchLabel${i}`, luminance(color) > 0.4 ? '#000000' : '#ffffff'],
        [`fillType${i}`, soft],
      ]
    }),
  )
  return {
    darkMode,
    fontFamily: style.fontFamily,
    fontSize: style.fontSize,
    background: surface,
    mainBkg: node,
    primaryColor: node,
    primaryTextColor: text,
    primaryBorderColor: border,
    secondaryColor: second,
    secondaryTextColor: text,
    secondaryBorderColor: line,
    tertiaryColor: surface,
    tertiaryTextColor: text,
    tertiaryBorderColor: line,
    lineColor: line,
    textColor: text,
    titleColor: text,
    nodeTextColor: text,
    nodeBorder: border,
    clusterBkg: surface,
    clusterBorder: line,
    edgeLabelBackground: surface,
    noteBkgColor: second,
    noteTextColor: text,
    noteBorderColor: line,
    actorBkg: node,
    actorTextColor: text,
    actorBorder: border,
    actorLineColor: line,
    signalColor: line,
    signalTextColor: text,
    labelBoxBkgColor: node,
    labelBoxBorderColor: line,
    labelTextColor: text,
    loopTextColor: text,
    activationBkgColor: second,
    activationBorderColor: line,
    sequenceNumberColor: surface,
    pieTitleTextColor: text,
    pieSectionTextColor: text,
    pieLegendTextColor: text,
    pieStrokeColor: surface,
    pieOuterStrokeColor: line,
    gridColor: line,
    sectionBkgColor: second,
    sectionBkgColor2: node,
    altSectionBkgColor: surface,
    taskBkgColor: mixed(charts[0]!, surface, 0.4),
    taskBorderColor: charts[0]!,
    taskTextColor: text,
    taskTextDarkColor: text,
    taskTextLightColor: text,
    taskTextOutsideColor: text,
    taskTextClickableColor: text,
    activeTaskBkgColor: mixed(charts[1]!, surface, 0.4),
    activeTaskBorderColor: charts[1]!,
    doneTaskBkgColor: second,
    doneTaskBorderColor: line,
    critBkgColor: mixed(charts[4]!, surface, 0.4),
    critBorderColor: charts[4]!,
    todayLineColor: charts[4]!,
    classText: text,
    commitLabelColor: text,
    commitLabelBackground: second,
    tagLabelColor: text,
    tagLabelBackground: node,
    tagLabelBorder: line,
    relationColor: line,
    relationLabelColor: text,
    relationLabelBackground: surface,
    attributeBackgroundColorOdd: surface,
    attributeBackgroundColorEven: node,
    rowOdd: surface,
    rowEven: node,
    errorBkgColor: second,
    errorTextColor: text,
    ...series,
  }
}

function variable(style: CSSStyleDeclaration, name: string): string {
  return style.getPropertyValue(name).trim()
}

type Probe = CanvasRenderingContext2D | null

/** The color as `#rrggbb`, laid over the surface where it is seen through. Mermaid reckons with colors. */
function opaque(probe: Probe, color: string, surface: string): string {
  if (!probe || color === '') return surface
  probe.globalCompositeOperation = 'source-over'
  probe.fillStyle = surface
  probe.fillRect(0, 0, 1, 1)
  probe.fillStyle = color
  probe.fillRect(0, 0, 1, 1)
  return hex([...probe.getImageData(0, 0, 1, 1).data.subarray(0, 3)])
}

function mixed(color: string, surface: string, share: number): string {
  const [a, b] = [rgb(color), rgb(surface)]
  return hex(a.map((value, i) => Math.round(value * share + b[i]! * (1 - share))))
}

function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = rgb(color)
  return (0.299 * r + 0.587 * g + 0.114 * b) / 255
}

function rgb(color: string): number[] {
  return [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16) || 0)
}

function hex(parts: readonly number[]): string {
  return `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`
}

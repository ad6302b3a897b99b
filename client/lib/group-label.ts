import type { PlainText } from '../i18n/t.ts'
import { t, text } from '../i18n/t.ts'

/** What the groups of a new installation are described with; whatever else is written for one stands as it was written. */
const presets: readonly PlainText[] = [text('默认分组'), text('vip分组')]

type Group = { name: string; description: string; ratio: number | string }

/** `default · Default group · ×1`: a group to choose, with what is written for it and what it multiplies prices by. */
export function groupLabel({ name, description, ratio }: Group): string {
  const preset = presets.find((words) => words === description)
  return `${[name, preset ? t(preset) : description].filter(Boolean).join(' · ')} · ×${ratio}`
}

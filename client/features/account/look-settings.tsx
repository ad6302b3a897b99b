import { SegmentGroup, Stack, Text } from '@chakra-ui/react'
import { Section } from '../../components/facts.tsx'
import { reportMissing } from '../../components/fetched-part.ts'
import { languages, useLanguage } from '../../i18n/language.ts'
import { setLanguage, t } from '../../i18n/t.ts'
import { setThemeMode, themeModes, useThemeMode } from '../../theme/theme-mode.ts'

type ChoiceProps<Value extends string> = {
  label: string
  value: Value
  choices: readonly { value: Value; label: string }[]
  onChange: (value: Value) => void
}

function Choice<Value extends string>({ label, value, choices, onChange }: ChoiceProps<Value>) {
  return (
    <Stack gap="1.5" align="flex-start">
      <Text textStyle="label">{label}</Text>
      <SegmentGroup.Root
        value={value}
        aria-label={label}
        onValueChange={(details) => {
          const chosen = choices.find((choice) => choice.value === details.value)
          if (chosen) onChange(chosen.value)
        }}
      >
        <SegmentGroup.Indicator />
        {choices.map((choice) => (
          <SegmentGroup.Item key={choice.value} value={choice.value}>
            <SegmentGroup.ItemText>{choice.label}</SegmentGroup.ItemText>
            <SegmentGroup.ItemHiddenInput />
          </SegmentGroup.Item>
        ))}
      </SegmentGroup.Root>
    </Stack>
  )
}

/** How the console looks in this browser. */
export function LookSettings() {
  const mode = useThemeMode()
  const language = useLanguage()
  const modeNames = { light: t('浅色'), dark: t('深色'), system: t('跟随系统') }
  const languageNames = { zh: '中文', en: 'English' }
  return (
    <Section title={t('界面')}>
      <Choice
        label={t('外观')}
        value={mode}
        choices={themeModes.map((value) => ({ value, label: modeNames[value] }))}
        onChange={setThemeMode}
      />
      <Choice
        label={t('语言')}
        value={language}
        choices={languages.map((value) => ({ value, label: languageNames[value] }))}
        onChange={(chosen) => void setLanguage(chosen).catch(reportMissing)}
      />
    </Section>
  )
}

import { Button } from '@chakra-ui/react'
import { useFormContext } from 'react-hook-form'
import { t } from '../../../i18n/t.ts'

/** Puts an example into an empty field, to be changed there. */
export function FillButton({ name, text }: { name: string; text: string }) {
  const { setValue, watch } = useFormContext()
  if (watch(name)) return null
  return (
    <Button size="2xs" variant="ghost" onClick={() => setValue(name, text, { shouldDirty: true, shouldTouch: true })}>
      {t('填入示例')}
    </Button>
  )
}

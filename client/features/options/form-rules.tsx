import { useEffect } from 'react'
import { confirm } from '../../components/confirm.tsx'
import { t } from '../../i18n/t.ts'
import { useSettings } from './settings-form.ts'

/** Without passwords only those come in who have linked another account, so switching them off is asked about. */
export function PasswordLoginRule() {
  const { form } = useSettings()
  useEffect(() => {
    const subscription = form.watch(({ PasswordLoginEnabled: isOn }, { name, type }) => {
      // What somebody else has saved is set without a change of the field.
      if (name !== 'PasswordLoginEnabled' || type !== 'change' || isOn !== false) return
      void confirm({
        title: t('确定关闭密码登录？'),
        body: t('没有绑定其他登录方式的用户将无法登录。'),
        confirmLabel: t('关闭密码登录'),
        danger: true,
      }).then((confirmed) => {
        if (!confirmed) form.setValue('PasswordLoginEnabled', true)
      })
    })
    return () => subscription.unsubscribe()
  }, [form])
  return null
}

const ratioNames = ['fallback_input_ratio', 'fallback_completion_ratio'] as const

/** A price per call and ratios exclude each other: who enters the one empties the other. */
export function FallbackRule() {
  const { form } = useSettings()
  useEffect(() => {
    const subscription = form.watch((values, { name }) => {
      if (name === undefined) return
      const isFilled = typeof values[name] === 'number' && values[name] > 0
      if (!isFilled) return
      if (name === 'fallback_single_price') {
        for (const ratio of ratioNames) if (values[ratio] !== null) form.setValue(ratio, null)
      } else if (ratioNames.some((ratio) => ratio === name) && values['fallback_single_price'] !== null) {
        form.setValue('fallback_single_price', null)
      }
    })
    return () => subscription.unsubscribe()
  }, [form])
  return null
}

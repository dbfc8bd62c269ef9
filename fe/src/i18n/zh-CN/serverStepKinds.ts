/** What is known of the program of a kind of steps, by the id of the server. */
export const stepKinds = {
  training: "训练",
  without_backward: "无反向传播",
  validation: "验证",
  prefill: "预填充",
  decode: "解码",
  mixed: "预填充与解码",
  draft: "草稿",
  verify: "校验",
  encode: "编码提示",
  denoise: "去噪",
  decode_image: "解码图像",
  other: "程序",
};
